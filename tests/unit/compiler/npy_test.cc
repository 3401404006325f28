#include "compiler/npy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;

// Values 0, 1, 2, ... as bytes.
Tensor tensor(DType dtype, std::vector<int64_t> shape) {
  Tensor result{dtype, std::move(shape), {}};
  size_t count = 1;
  for (int64_t extent : result.shape) count *= static_cast<size_t>(extent);
  for (size_t i = 0; i < count * size_bytes(dtype); ++i) result.bytes.push_back(static_cast<uint8_t>(i));
  return result;
}

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Npy, ReadsWhatItWrites) {
  const testing::TemporaryFolder folder;
  const std::vector<std::vector<int64_t>> kShapes = {
      {}, {1}, {7}, {2, 3}, {0}, {3, 0, int64_t{1} << 40}, {1, 2, 1, 3, 1}};
  for (DType dtype : kAllDTypes) {
    for (const auto& shape : kShapes) {
      const Tensor written = tensor(dtype, shape);
      const fs::path path = folder.path() / "a.npy";
      ASSERT_TRUE(write_npy(path, written).is_ok());
      Expected<Tensor> read = read_npy(path);
      ASSERT_TRUE(read) << read.status().message();
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->bytes, written.bytes);
    }
  }
}

// The bytes that numpy.save(numpy.array([[1, 2, 3]], dtype='<f4')) makes.
TEST(Npy, WritesTheBytesThatNumpyDoes) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npy";
  Tensor values{DType::kFloat32, {1, 3}, std::vector<uint8_t>(12)};
  const float numbers[] = {1, 2, 3};
  std::memcpy(values.bytes.data(), numbers, sizeof(numbers));
  ASSERT_TRUE(write_npy(path, values).is_ok());
  std::string expected =
      std::string("\x93NUMPY\x01\0\x76\0", 10) + "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  expected.resize(127, ' ');
  expected += "\n";
  expected.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  EXPECT_EQ(content(path), expected);
}

TEST(Npy, ReadsEveryVersionAndLayoutOfTheHeader) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npy";
  const std::string headers[] = {
      "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
      "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<i4\"}",
      " { 'fortran_order' : False , 'shape' : ( 2 , ) , 'descr' : '<i4' , } ",
  };
  for (const std::string& header : headers) {
    for (char major : {1, 2, 3}) {
      std::string text = "\x93NUMPY";
      text += major;
      text += '\0';
      text += static_cast<char>(header.size());
      text.append(major == 1 ? 1 : 3, '\0');
      text += header + std::string("\x01\0\0\0\x02\0\0\0", 8);
      std::ofstream(path, std::ios::binary) << text;
      Expected<Tensor> read = read_npy(path);
      ASSERT_TRUE(read) << read.status().message();
      EXPECT_EQ(read->dtype, DType::kInt32);
      EXPECT_EQ(read->shape, std::vector<int64_t>{2});
      EXPECT_EQ(read->bytes, (std::vector<uint8_t>{1, 0, 0, 0, 2, 0, 0, 0}));
    }
  }
}

TEST(Npy, WritesWholeFilesOnly) {
  const testing::TemporaryFolder folder;
  const Tensor values = tensor(DType::kInt32, {3});
  const Status missing = write_npy(folder.path() / "none" / "a.npy", values);
  EXPECT_EQ(missing.code(), StatusCode::kEnvironment);
  EXPECT_NE(missing.message().find("none/a.npy"), std::string::npos) << missing.message();
  EXPECT_EQ(write_npy(folder.path(), values).code(), StatusCode::kEnvironment) << "a folder";
  ASSERT_TRUE(write_npy(folder.path() / "a.npy", values).is_ok());
  ASSERT_TRUE(write_npy(folder.path() / "a.npy", tensor(DType::kInt32, {1})).is_ok());
  EXPECT_EQ(read_npy(folder.path() / "a.npy")->shape, std::vector<int64_t>{1}) << "replaced";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1) << "a file is left over";
}

TEST(Npy, FollowsLinksAndLeavesDevicesAlone) {
  const testing::TemporaryFolder folder;
  const fs::path link = folder.path() / "link.npy";
  ASSERT_TRUE(write_npy(folder.path() / "a.npy", tensor(DType::kInt32, {3})).is_ok());
  fs::create_symlink("a.npy", link);
  ASSERT_TRUE(write_npy(link, tensor(DType::kInt32, {2})).is_ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_npy(folder.path() / "a.npy")->shape, std::vector<int64_t>{2});
  fs::create_symlink("/dev/null", folder.path() / "null");
  EXPECT_EQ(write_npy(folder.path() / "null", tensor(DType::kInt32, {2})).code(), StatusCode::kEnvironment);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Npy, WritesToTheLongestNames) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / (std::string(251, 'y') + ".npy");
  const Status status = write_npy(path, tensor(DType::kFloat32, {2}));
  EXPECT_TRUE(status.is_ok()) << status.message();
  EXPECT_TRUE(fs::exists(path));
}

// Interrupts itself in the middle of the file, at a file size limit.
void write_until_interrupted(const fs::path& path) {
  std::signal(SIGXFSZ, [](int) { raise(SIGTERM); });
  const rlimit limit = {4096, 4096};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) std::exit(1);
  const Status status = write_npy(path, tensor(DType::kFloat32, {100000}));
  std::exit(status.is_ok() ? 2 : 3);  // the interrupt has ended the process
}

TEST(NpyDeathTest, AnInterruptLeavesNoFile) {
  const testing::TemporaryFolder folder;
  EXPECT_EXIT(write_until_interrupted(folder.path() / "y.npy"), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace gemmc
