/* The first and only program of the emulated machine of run_at_level: runs the program whose NUL-terminated arguments
   are in /arguments with its output on the second serial port, ends that output with a line "status N", and switches
   the machine off. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { kMostArguments = 64 };

static int run(char** argv) {
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[0], argv);
    perror(argv[0]);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void) {
  static char text[1 << 16];
  char* argv[kMostArguments + 1] = {0};
  mount("devtmpfs", "/dev", "devtmpfs", 0, "");
  const int port = open("/dev/ttyS1", O_RDWR | O_NOCTTY);
  struct termios raw;
  if (port >= 0 && tcgetattr(port, &raw) == 0) {
    cfmakeraw(&raw);
    cfsetspeed(&raw, B115200);
    tcsetattr(port, TCSANOW, &raw);
    dup2(port, STDOUT_FILENO);
    dup2(port, STDERR_FILENO);
  }
  const int file = open("/arguments", O_RDONLY);
  const ssize_t size = read(file, text, sizeof text - 1);
  int count = 0;
  for (char* next = text; next < text + size && count < kMostArguments; next += strlen(next) + 1) argv[count++] = next;
  if (count > 0) {
    const int status = run(argv);
    printf("status %d\n", status);
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
  }
  return reboot(RB_POWER_OFF);
}
