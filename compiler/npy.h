// NumPy .npy files -> Tensor and back. Format: NumPy Enhancement Proposal 1 (versions 1.0, 2.0 and 3.0 of the header).
#pragma once

#include <filesystem>

#include "compiler/node.h"
#include "core/status.h"

namespace gemmc {

// Reads a C-ordered little-endian array. dtype: "<f4", "<f8", "<f2", "<i4", "<i8", "<u4", "<u8", "|i1"; "<u2" is
// bfloat16's bit pattern. Refused with invalid argument: other types, Fortran order, malformed headers, shapes whose
// bytes do not match the file's size. Environment: the file cannot be read.
Expected<Tensor> read_npy(const std::filesystem::path& path);
// Writes to a temporary file beside `path` and renames it, so that no partial file is left behind.
Status write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace gemmc
