#include "io/npy.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/check.h"
#include "io/json.h"

namespace wgrad::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPreambleBytes = 12;            // magic, version, header length in its longer form
constexpr std::uint64_t kMaxHeaderBytes = 64 * 1024;  // format 1.0's own limit; longer ones hold structured dtypes
constexpr std::size_t kMaxRank = 64;                  // NumPy's

// What the header's dictionary says.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the Python dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  // Errors carry the message alone; the caller adds the path.
  Result<Header> Parse() {
    if (!Take('{')) return Broken("{");
    while (!Take('}')) {
      const std::optional<std::string> key = TakeString();
      if (!key || !Take(':')) return Broken("a quoted key and a colon");
      if (const Status status = ParseValue(*key); !status.ok()) return status.error();
      if (Take(',')) continue;
      if (Take('}')) break;
      return Broken("a comma or }");
    }
    SkipSpace();
    if (at_ != text_.size()) return Broken("the end of the header");
    if (!has_descr_) return Bad("its header has no 'descr'");
    if (!has_order_) return Bad("its header has no 'fortran_order'");
    if (!has_shape_) return Bad("its header has no 'shape'");
    return header_;
  }

 private:
  static Error Bad(std::string message) { return {ErrorCode::kBadFile, std::move(message)}; }
  Error Broken(const std::string& due) const {
    return Bad("its header is damaged at character " + std::to_string(at_ + 1) + ", where " + due + " is due");
  }

  Status ParseValue(const std::string& key) {
    if (key == "descr") return ParseDescr();
    if (key == "fortran_order") return ParseOrder();
    if (key == "shape") return ParseShape();
    return Bad("its header has the unknown key '" + ToValidUtf8(key) + "'");
  }

  Status ParseDescr() {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '[') return Bad("descr is a structured dtype; a plain one is due");
    const std::optional<std::string> descr = TakeString();
    if (!descr || has_descr_) return Broken("one quoted dtype");
    header_.descr = *descr;
    has_descr_ = true;
    return Ok();
  }

  Status ParseOrder() {
    const bool is_true = TakeWord("True");
    if ((!is_true && !TakeWord("False")) || has_order_) return Broken("one True or False");
    header_.fortran_order = is_true;
    has_order_ = true;
    return Ok();
  }

  Status ParseShape() {
    if (has_shape_ || !Take('(')) return Broken("one shape in parentheses");
    while (!Take(')')) {
      SkipSpace();
      std::int64_t extent = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (problem == std::errc::result_out_of_range) {
        return Error{ErrorCode::kTooLarge, "shape has an extent beyond 63 bits"};
      }
      if (problem != std::errc()) return Broken("an extent");
      if (extent < 0) return Bad("shape has the extent " + std::to_string(extent) + "; extents are >= 0");
      at_ += static_cast<std::size_t>(end - begin);
      TakeWord("L");
      header_.shape.push_back(extent);
      if (header_.shape.size() > kMaxRank) {
        return Error{ErrorCode::kTooLarge, "shape has more than " + std::to_string(kMaxRank) + " extents"};
      }
      if (!Take(',')) {
        if (!Take(')')) return Broken("a comma or )");
        break;
      }
    }
    has_shape_ = true;
    return Ok();
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> TakeString() {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Header header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

std::string_view DescrOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "<f2";
    case DType::kBFloat16:
      return "<V2";
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
  }
  WGRAD_CHECK(false, "a dtype without a NumPy name");
}

Result<DType> DTypeOf(const std::string& descr, std::optional<DType> expected) {
  const std::string shown = "descr '" + ToValidUtf8(descr) + "'";
  if (descr.starts_with('>')) return Error{ErrorCode::kBadFile, shown + " is big-endian; little-endian ('<') is due"};
  std::optional<DType> found;
  if (descr == "<u2" && expected == DType::kBFloat16) found = DType::kBFloat16;
  if (descr == "|V2") found = DType::kBFloat16;
  for (const DType dtype : kAllDTypes) {
    if (descr == DescrOf(dtype)) found = dtype;
  }
  if (!found) {
    return Error{ErrorCode::kBadFile,
                 shown + " is not one of '<f2', '<f4', '<f8' and '<V2' (bfloat16; where that is due also '<u2')"};
  }
  if (expected && *found != *expected) {
    return Error{ErrorCode::kBadFile,
                 shown + " is " + std::string(NameOf(*found)) + " where " + std::string(NameOf(*expected)) + " is due"};
  }
  return *found;
}

// An open .npy file and its size; every message starts with its path.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  Result<Tensor> Read(std::optional<DType> expected) {
    if (const Status status = Open(); !status.ok()) return status.error();
    const Result<std::string> text = ReadHeaderText();
    if (!text.ok()) return text.error();
    const Result<Header> header = HeaderParser(*text).Parse();
    if (!header.ok()) return Fail(header.error().code, header.error().message);
    const Result<DType> dtype = DTypeOf(header->descr, expected);
    if (!dtype.ok()) return Fail(dtype.error().code, dtype.error().message);
    if (header->fortran_order) {
      return Fail(ErrorCode::kBadFile,
                  "fortran_order is True; row-major data are due (save np.ascontiguousarray(array))");
    }
    return ReadData(*dtype, header->shape);
  }

 private:
  Error Fail(ErrorCode code, const std::string& message) const { return {code, path_.string() + ": " + message}; }

  Status Open() {
    std::error_code problem;
    const auto status = std::filesystem::status(path_, problem);
    if (status.type() == std::filesystem::file_type::not_found) return Fail(ErrorCode::kNotFound, "no such file");
    if (problem) return Fail(ErrorCode::kUnavailable, problem.message());
    if (status.type() != std::filesystem::file_type::regular) return Fail(ErrorCode::kBadFile, "not a regular file");
    file_size_ = std::filesystem::file_size(path_, problem);
    if (problem) return Fail(ErrorCode::kUnavailable, problem.message());
    errno = 0;
    file_.open(path_, std::ios::binary);
    if (!file_) return Fail(ErrorCode::kUnavailable, std::string("cannot be opened: ") + std::strerror(errno));
    return Ok();
  }

  // Up to `bytes` bytes; fewer where the file ends.
  std::string ReadBytes(std::uint64_t bytes) {
    std::string data(bytes, '\0');
    file_.read(data.data(), static_cast<std::streamsize>(bytes));
    data.resize(static_cast<std::size_t>(file_.gcount()));
    return data;
  }

  Result<std::string> ReadHeaderText() {
    const std::string preamble = ReadBytes(std::min<std::uint64_t>(kPreambleBytes, file_size_));
    if (!preamble.starts_with(kMagic)) {
      return Fail(ErrorCode::kBadFile, "not a .npy file (it does not start with \\x93NUMPY)");
    }
    if (preamble.size() < 10) return Truncated(preamble.size(), "the length of its header");
    const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(preamble[i])}; };
    const std::uint64_t major = byte(6);
    if (major < 1 || major > 3 || byte(7) != 0) {
      return Fail(ErrorCode::kBadFile, "format version " + std::to_string(major) + "." + std::to_string(byte(7)) +
                                           " is not one of 1.0, 2.0 and 3.0");
    }
    if (major > 1 && preamble.size() < kPreambleBytes) return Truncated(preamble.size(), "the length of its header");
    const std::uint64_t begin = major == 1 ? 10 : 12;
    std::uint64_t length = byte(8) | byte(9) << 8;
    if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (length > kMaxHeaderBytes) {
      return Fail(ErrorCode::kTooLarge, "its header says it has " + std::to_string(length) + " bytes; at most " +
                                            std::to_string(kMaxHeaderBytes) + " are read");
    }
    if (file_size_ - begin < length) {
      return Truncated(file_size_, "its header, which ends at byte " + std::to_string(begin + length));
    }
    data_begin_ = begin + length;
    file_.seekg(static_cast<std::streamoff>(begin));
    return ReadBytes(length);
  }

  Error Truncated(std::uint64_t found, const std::string& within) const {
    return Fail(ErrorCode::kBadFile, "truncated after " + std::to_string(found) + " bytes, within " + within);
  }

  Result<Tensor> ReadData(DType dtype, const std::vector<std::int64_t>& shape) {
    const std::optional<std::int64_t> count = CheckedElementCount(shape);
    if (!count) return Fail(ErrorCode::kTooLarge, "shape has more elements than 63 bits of bytes hold");
    const std::uint64_t due = static_cast<std::uint64_t>(*count) * SizeOf(dtype);
    const std::uint64_t found = file_size_ - data_begin_;
    if (found != due) {
      return Fail(ErrorCode::kBadFile, (found < due ? "truncated: " : "too long: ") + std::to_string(found) +
                                           " bytes of data found where its header makes " + std::to_string(due) +
                                           " due");
    }
    Tensor tensor(dtype, shape);
    file_.seekg(static_cast<std::streamoff>(data_begin_));
    file_.read(reinterpret_cast<char*>(tensor.data()), static_cast<std::streamsize>(due));
    if (static_cast<std::uint64_t>(file_.gcount()) != due) {
      return Fail(ErrorCode::kUnavailable, "reading stopped after " + std::to_string(file_.gcount()) +
                                               " bytes of data where " + std::to_string(due) + " are due");
    }
    return tensor;
  }

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t file_size_ = 0;
  std::uint64_t data_begin_ = 0;
};

// Format 1.0: the dictionary, blanks and a line feed such that the data begin at a multiple of 64.
std::string HeaderOf(const Tensor& tensor) {
  std::string shape;
  for (const std::int64_t extent : tensor.shape()) shape += std::to_string(extent) + ", ";
  if (tensor.shape().size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape().size() == 1) shape.resize(shape.size() - 1);
  std::string text =
      "{'descr': '" + std::string(DescrOf(tensor.dtype())) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kBegin = 10;
  text.append(63 - (kBegin + text.size()) % 64, ' ');
  text += '\n';
  WGRAD_CHECK(tensor.shape().size() <= kMaxRank, "more extents than NumPy has");
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace

Result<Tensor> ReadNpy(const std::filesystem::path& path, std::optional<DType> expected) {
  return Reader(path).Read(expected);
}

Status WriteNpy(const std::filesystem::path& path, const Tensor& tensor) {
  WGRAD_CHECK(tensor.data() != nullptr, "a tensor that was never made");
  static std::atomic<unsigned> serial{0};
  const std::filesystem::path temporary =
      path.string() + "." + std::to_string(::getpid()) + "." + std::to_string(++serial) + ".part";
  const auto fail = [&](const std::string& what, const std::string& why) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return Error{ErrorCode::kUnavailable, path.string() + ": " + what + ": " + why};
  };
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  const std::string header = HeaderOf(tensor);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.byte_count()));
  file.close();
  if (!file) return fail("cannot be written", std::strerror(errno));
  std::error_code problem;
  std::filesystem::rename(temporary, path, problem);
  if (problem) return fail("cannot be put in place", problem.message());
  return Ok();
}

}  // namespace wgrad::io
