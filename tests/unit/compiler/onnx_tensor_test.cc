#include "compiler/onnx_tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "compiler/onnx_file.h"
#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

using ::onnx::TensorProto;

TensorProto typed(int32_t type, std::vector<int64_t> dims) {
  TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(type);
  *tensor.mutable_dims() = {dims.begin(), dims.end()};
  return tensor;
}

Expected<OnnxTensor> decoded(const TensorProto& tensor) {
  ModelFiles files("model.onnx");
  return decode_tensor(tensor, "w", files);
}

std::string message(const TensorProto& tensor) {
  const Expected<OnnxTensor> result = decoded(tensor);
  return result ? "decoded" : result.status().message();
}

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

TEST(OnnxTensor, TypedFieldsAndRawDataAreTheSame) {
  TensorProto f32 = typed(TensorProto::FLOAT, {2});
  f32.add_float_data(1.5f);
  f32.add_float_data(-2.0f);
  EXPECT_EQ(decoded(f32)->bytes, bytes_of<float>({1.5f, -2.0f}));
  TensorProto f64 = typed(TensorProto::DOUBLE, {1, 1});
  f64.add_double_data(0.1);
  EXPECT_EQ(decoded(f64)->bytes, bytes_of<double>({0.1}));
  TensorProto i64 = typed(TensorProto::INT64, {1});
  i64.add_int64_data(-5);
  EXPECT_EQ(decoded(i64)->bytes, bytes_of<int64_t>({-5}));
  TensorProto u64 = typed(TensorProto::UINT64, {1});
  u64.add_uint64_data(~uint64_t{0});
  EXPECT_EQ(decoded(u64)->bytes, bytes_of<uint64_t>({~uint64_t{0}}));
  TensorProto u32 = typed(TensorProto::UINT32, {1});
  u32.add_uint64_data(0xffffffffu);
  EXPECT_EQ(decoded(u32)->bytes, bytes_of<uint32_t>({0xffffffffu}));

  struct Small {
    int32_t type;
    int32_t value;
    std::vector<uint8_t> bytes;
  };
  const std::vector<Small> smalls = {{TensorProto::INT32, -2, bytes_of<int32_t>({-2})},
                                     {TensorProto::INT16, -2, bytes_of<int16_t>({-2})},
                                     {TensorProto::INT8, -2, bytes_of<int8_t>({-2})},
                                     {TensorProto::UINT16, 65535, bytes_of<uint16_t>({65535})},
                                     {TensorProto::UINT8, 255, {255}},
                                     {TensorProto::BOOL, 1, {1}},
                                     {TensorProto::FLOAT16, 0x3c00, bytes_of<uint16_t>({0x3c00})},
                                     {TensorProto::BFLOAT16, 0xff80, bytes_of<uint16_t>({0xff80})}};
  for (const Small& small : smalls) {
    TensorProto tensor = typed(small.type, {});
    tensor.add_int32_data(small.value);
    const Expected<OnnxTensor> result = decoded(tensor);
    ASSERT_TRUE(result) << element_type_name(small.type) << ": " << result.status().message();
    EXPECT_EQ(result->bytes, small.bytes) << element_type_name(small.type);
    TensorProto raw = typed(small.type, {});
    raw.set_raw_data(std::string(small.bytes.begin(), small.bytes.end()));
    EXPECT_EQ(decoded(raw)->bytes, small.bytes) << element_type_name(small.type);
  }
}

TEST(OnnxTensor, EmptyTensorsNeedNoData) {
  const Expected<OnnxTensor> empty = decoded(typed(TensorProto::FLOAT, {3, 0}));
  ASSERT_TRUE(empty) << empty.status().message();
  EXPECT_EQ(empty->dims, (std::vector<int64_t>{3, 0}));
  EXPECT_TRUE(empty->bytes.empty());
}

TEST(OnnxTensor, SizesHaveToAgree) {
  TensorProto raw = typed(TensorProto::FLOAT, {2, 3});
  raw.set_raw_data(std::string(23, '\0'));
  EXPECT_EQ(message(raw), "tensor 'w' holds 23 bytes of float32, its shape needs 24");
  TensorProto fields = typed(TensorProto::INT8, {2});
  fields.add_int32_data(1);
  EXPECT_EQ(message(fields), "tensor 'w' holds 1 values of int8, its shape needs 2");
  EXPECT_EQ(message(typed(TensorProto::FLOAT, {1})), "tensor 'w' holds 0 values of float32, its shape needs 1");
  TensorProto packed = typed(TensorProto::INT4, {3});
  packed.set_raw_data("a");
  EXPECT_EQ(message(packed), "tensor 'w' holds 1 bytes of int4, its shape needs 2");
  TensorProto huge = typed(TensorProto::FLOAT, {1000000000, 100000000});
  huge.set_raw_data("abcd");
  EXPECT_EQ(message(huge), "tensor 'w' holds 4 bytes of float32, its shape needs 400000000000000000");
}

TEST(OnnxTensor, ValuesStandInOnePlace) {
  TensorProto twice = typed(TensorProto::FLOAT, {1});
  twice.set_raw_data("abcd");
  twice.add_float_data(1);
  EXPECT_EQ(message(twice), "tensor 'w' holds values in 2 fields; allowed: one");
  TensorProto outside = typed(TensorProto::FLOAT, {1});
  outside.set_data_location(TensorProto::EXTERNAL);
  outside.set_raw_data("abcd");
  EXPECT_EQ(message(outside), "tensor 'w' holds values in 2 fields; allowed: one");
}

TEST(OnnxTensor, ValuesHaveToFitTheirType) {
  TensorProto tensor = typed(TensorProto::INT8, {1});
  tensor.add_int32_data(128);
  EXPECT_EQ(message(tensor), "tensor 'w' holds 128; allowed: -128 to 127");
}

TEST(OnnxTensor, ShapesHaveToBeSane) {
  EXPECT_EQ(message(typed(TensorProto::FLOAT, {-1})), "tensor 'w' has a dimension of -1; allowed: 0 and more");
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(message(typed(TensorProto::FLOAT, {big, big})),
            "tensor 'w' has shape [1099511627776, 1099511627776], too large to address");
  EXPECT_EQ(message(typed(TensorProto::FLOAT, std::vector<int64_t>(kMaxRank + 1, 1))),
            "tensor 'w' has rank 33; allowed: up to 32");
}

TEST(OnnxTensor, TypesOutsideTheEightHaveNamesButNoDType) {
  EXPECT_EQ(element_type_name(TensorProto::FLOAT8E5M2), "float8e5m2");
  EXPECT_EQ(element_type_name(TensorProto::STRING), "string");
  EXPECT_EQ(element_type_name(77), "element type 77");
  EXPECT_EQ(to_dtype(TensorProto::UINT8), std::nullopt);
  EXPECT_EQ(to_dtype(TensorProto::BFLOAT16), DType::kBFloat16);
  EXPECT_EQ(decoded(typed(TensorProto::COMPLEX64, {0})).status().code(), StatusCode::kUnsupported);
}

// An external tensor of 4 floats in a folder with "weights.bin", "sub/more.bin", and a file beside the folder.
class OnnxExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::create_directories(folder() / "sub");
    const std::vector<float> floats = {9, 1, 2, 3, 4};
    for (const fs::path& path : {folder() / "weights.bin", folder() / "sub/more.bin", outside_.path() / "secret.bin"}) {
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(floats.data()), 20);
    }
    fs::create_symlink("sub/more.bin", folder() / "inner_link.bin");
    fs::create_symlink(outside_.path() / "secret.bin", folder() / "outer_link.bin");
    fs::create_directory_symlink(outside_.path(), folder() / "outer_folder");
  }

  std::filesystem::path folder() const { return folder_.path(); }

  Expected<OnnxTensor> read(const std::vector<std::pair<std::string, std::string>>& entries) {
    TensorProto tensor = typed(TensorProto::FLOAT, {2, 2});
    tensor.set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    ModelFiles files(folder() / "model.onnx");
    return decode_tensor(tensor, "w", files);
  }
  std::string message(const std::vector<std::pair<std::string, std::string>>& entries) {
    const Expected<OnnxTensor> result = read(entries);
    return result ? "read" : result.status().message();
  }

  TemporaryFolder folder_, outside_;
};

TEST_F(OnnxExternalData, IsReadFromFilesInTheFolder) {
  for (const char* location : {"weights.bin", "./weights.bin", "sub/more.bin", "inner_link.bin"}) {
    const Expected<OnnxTensor> tensor = read({{"location", location}, {"offset", "4"}, {"length", "16"}});
    ASSERT_TRUE(tensor) << tensor.status().message();
    EXPECT_EQ(tensor->bytes, bytes_of<float>({1, 2, 3, 4})) << location;
  }
  const Expected<OnnxTensor> first = read({{"location", "weights.bin"}});
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_EQ(first->bytes, bytes_of<float>({9, 1, 2, 3}));
}

TEST_F(OnnxExternalData, IsNotReadFromOutside) {
  EXPECT_EQ(message({{"location", "/etc/passwd"}}),
            "external data of tensor 'w' is in '/etc/passwd': an absolute path, "
            "but only files in the model's folder are read");
  for (const char* location : {"../weights.bin", "sub/../../weights.bin", "sub/.."}) {
    EXPECT_EQ(message({{"location", location}}),
              std::string("external data of tensor 'w' is in '") + location +
                  "': a path with '..', but only files in the model's folder are read");
  }
  for (const char* location : {"outer_link.bin", "outer_folder/secret.bin"}) {
    EXPECT_EQ(message({{"location", location}}),
              std::string("external data of tensor 'w' is in '") + location +
                  "': a symbolic link that leaves the model's folder, but only files inside are read");
  }
  EXPECT_EQ(message({}), "external data of tensor 'w' is in '': not a file name");
  EXPECT_EQ(message({{"location", std::string("weights.bin\0x", 13)}}),
            "external data of tensor 'w' is in 'weights.bin\\x00x': not a file name");
}

TEST_F(OnnxExternalData, HasToLieInsideItsFile) {
  EXPECT_EQ(message({{"location", "weights.bin"}, {"offset", "8"}}),
            "external data of tensor 'w': 16 bytes at offset 8 of 'weights.bin', which has 20");
  EXPECT_EQ(message({{"location", "weights.bin"}, {"offset", "9223372036854775807"}}),
            "external data of tensor 'w': 16 bytes at offset 9223372036854775807 of 'weights.bin', which has 20");
  EXPECT_EQ(message({{"location", "weights.bin"}, {"length", "12"}}),
            "external data of tensor 'w' has length 12, its shape needs 16");
  for (const char* number : {"-4", "4x", "", "99999999999999999999"}) {
    EXPECT_EQ(message({{"location", "weights.bin"}, {"offset", number}}),
              std::string("external data of tensor 'w': offset is '") + number + "'; allowed: a number of 0 and more");
  }
}

TEST_F(OnnxExternalData, MissingFilesAreTheEnvironmentsFault) {
  const Expected<OnnxTensor> missing = read({{"location", "gone.bin"}});
  EXPECT_EQ(missing.status().code(), StatusCode::kEnvironment);
  EXPECT_NE(missing.status().message().find("gone.bin"), std::string::npos);
  EXPECT_EQ(read({{"location", "sub"}}).status().code(), StatusCode::kEnvironment);
}

}  // namespace
}  // namespace gemmc::testing
