// Runs the code in a Markdown document, so that what the documents show is true.
//
// Fenced blocks by language:
//   c        a program that is linked with libgemmc and must exit with 0; one whose first line is "/* NAME */" is only
//            written to NAME, for later blocks
//   sh       commands, run by a shell in the same folder, with `gemmc` on the path; lines that begin "tools/" name
//   set-up
//            scripts, which must exist
//   output   what the last program or commands printed
// Others are left alone.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gemmc::testing {

struct CodeBlock {
  std::string language;
  std::string text;
  size_t line;  // of its first line, counted from 1
};
std::vector<CodeBlock> code_blocks(std::string_view markdown);

struct Toolchain {
  std::filesystem::path source_dir;   // the repository
  std::filesystem::path command_dir;  // where `gemmc` is
  std::filesystem::path library_dir;  // where libgemmc.so is
  std::string sanitizer;              // what libgemmc was built with; may be empty
};

// Runs the document's blocks in a new temporary folder. What went wrong first, with its line; empty if nothing did.
std::string run_document(std::string_view markdown, const Toolchain& toolchain);

}  // namespace gemmc::testing
