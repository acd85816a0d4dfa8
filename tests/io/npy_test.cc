// .npy files of every kind, and of every kind of damage.
#include "io/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "core/random.h"

namespace wgrad::io {
namespace {

using namespace std::string_literals;

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("wgrad_npy_" + std::to_string(::getpid()) + "_" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path Path(const std::string& name = "a.npy") const { return folder_ / name; }

  std::filesystem::path Write(const std::string& bytes) const {
    std::ofstream(Path(), std::ios::binary) << bytes;
    return Path();
  }

  // The message without the path, which must lead it.
  std::string Refusal(const std::string& bytes, std::optional<DType> expected = std::nullopt) const {
    const Result<Tensor> tensor = ReadNpy(Write(bytes), expected);
    EXPECT_FALSE(tensor.ok());
    if (tensor.ok()) return "";
    const std::string lead = Path().string() + ": ";
    EXPECT_EQ(tensor.error().message.substr(0, lead.size()), lead);
    return tensor.error().message.substr(lead.size());
  }

 private:
  std::filesystem::path folder_;
};

std::string LittleEndian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

// A file of format `major`.0 with this dictionary.
std::string File(const std::string& dictionary, const std::string& data, int major = 1) {
  return "\x93NUMPY"s + static_cast<char>(major) + '\0' + LittleEndian(dictionary.size(), major == 1 ? 2 : 4) +
         dictionary + data;
}

std::string Dictionary(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }      \n";
}

Tensor RandomTensor(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::uint64_t bits = SplitMix64(5, static_cast<std::uint64_t>(i));
    tensor.set_bits(i, SizeOf(dtype) == 8 ? bits : bits & ((std::uint64_t{1} << (8 * SizeOf(dtype))) - 1));
  }
  return tensor;
}

TEST_F(Npy, RoundTripsEveryDTypeAndRank) {
  const std::vector<std::vector<std::int64_t>> shapes = {{}, {1}, {7}, {2, 3}, {0, 5}, {2, 0}, {3, 2, 4, 5}};
  std::int64_t compared = 0;
  for (const DType dtype : kAllDTypes) {
    for (const auto& shape : shapes) {
      const Tensor tensor = RandomTensor(dtype, shape);
      const Status written = WriteNpy(Path(), tensor);
      ASSERT_TRUE(written.ok()) << written.error().message;
      const Result<Tensor> back = ReadNpy(Path(), dtype);
      ASSERT_TRUE(back.ok()) << back.error().message;
      EXPECT_EQ(back->dtype(), dtype);
      EXPECT_EQ(back->shape(), shape);
      EXPECT_TRUE(std::ranges::equal(back->bytes(), tensor.bytes()));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 28);
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  Tensor tensor(DType::kFloat32, {2, 1});
  tensor.set_value(0, 1);
  tensor.set_value(1, -2);
  ASSERT_TRUE(WriteNpy(Path(), tensor).ok());
  std::ifstream file(Path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
  EXPECT_EQ(bytes, "\x93NUMPY\x01\x00\x76\x00"s + dictionary + std::string(117 - dictionary.size(), ' ') + "\n" +
                       "\x00\x00\x80\x3f\x00\x00\x00\xc0"s);
}

TEST_F(Npy, LeavesNoTemporaryFile) {
  ASSERT_TRUE(WriteNpy(Path(), Tensor(DType::kFloat64, {3})).ok());
  std::int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path().parent_path())) {
    EXPECT_EQ(entry.path(), Path());
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST_F(Npy, SaysWhyItCannotWrite) {
  const Status status = WriteNpy(Path("missing") / "a.npy", Tensor(DType::kFloat32, {1}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(status.error().message,
            (Path("missing") / "a.npy").string() + ": cannot be written: No such file or directory");
}

TEST_F(Npy, ReadsAllFormatVersions) {
  for (const int major : {1, 2, 3}) {
    const Result<Tensor> tensor = ReadNpy(Write(File(Dictionary("<f4", "(2,)"), "\0\0\x80\x3f\0\0\0\x40"s, major)));
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(tensor->value(0), 1);
    EXPECT_EQ(tensor->value(1), 2);
  }
}

TEST_F(Npy, ReadsTheHeadersThatOthersWrite) {
  const std::string data = "\0\x3c"s;
  for (const char* dictionary : {"{\"shape\":(1,),\"descr\":\"<f2\",\"fortran_order\":False}",
                                 "{'shape': (1L,), 'fortran_order': False, 'descr': '<f2'}\n",
                                 " { 'descr' : '<f2' , 'fortran_order' : False , 'shape' : ( 1 , 1 ) , } "}) {
    const Result<Tensor> tensor = ReadNpy(Write(File(dictionary, data)), DType::kFloat16);
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(tensor->value(0), 1);
  }
}

TEST_F(Npy, ReadsBFloat16AsVoidAndWhereItIsDueAsUint16) {
  const std::string one = "\x80\x3f";
  for (const char* descr : {"<V2", "|V2"}) {
    const Result<Tensor> tensor = ReadNpy(Write(File(Dictionary(descr, "(1,)"), one)));
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(tensor->dtype(), DType::kBFloat16);
    EXPECT_EQ(tensor->value(0), 1);
  }
  EXPECT_TRUE(ReadNpy(Write(File(Dictionary("<u2", "(1,)"), one)), DType::kBFloat16).ok());
  EXPECT_FALSE(ReadNpy(Write(File(Dictionary("<u2", "(1,)"), one))).ok());
  EXPECT_FALSE(ReadNpy(Write(File(Dictionary("<u2", "(1,)"), one)), DType::kFloat16).ok());
}

TEST_F(Npy, RefusesAFileThatIsNotThere) {
  const Result<Tensor> tensor = ReadNpy(Path("none.npy"));
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(tensor.error().message, Path("none.npy").string() + ": no such file");
  EXPECT_EQ(ReadNpy(Path().parent_path()).error().message, Path().parent_path().string() + ": not a regular file");
}

TEST_F(Npy, RefusesWhatIsNoNpyFile) {
  const std::string message = "not a .npy file (it does not start with \\x93NUMPY)";
  EXPECT_EQ(Refusal(""), message);
  EXPECT_EQ(Refusal("\x93NUMP"), message);
  EXPECT_EQ(Refusal("PK\x03\x04 an .npz file"), message);
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(1,)"), "1234", 4)), "format version 4.0 is not one of 1.0, 2.0 and 3.0");
}

TEST_F(Npy, RefusesOtherDTypesAndOrders) {
  EXPECT_EQ(Refusal(File(Dictionary(">f4", "(1,)"), "1234")), "descr '>f4' is big-endian; little-endian ('<') is due");
  EXPECT_EQ(Refusal(File(Dictionary("<i4", "(1,)"), "1234")),
            "descr '<i4' is not one of '<f2', '<f4', '<f8' and '<V2' (bfloat16; where that is due also '<u2')");
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(1,)"), "1234"), DType::kFloat16), "descr '<f4' is f32 where f16 is due");
  EXPECT_EQ(Refusal(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
            "descr is a structured dtype; a plain one is due");
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(1,)", "True"), "1234")),
            "fortran_order is True; row-major data are due (save np.ascontiguousarray(array))");
}

TEST_F(Npy, SaysHowMuchIsMissing) {
  const std::string whole = File(Dictionary("<f4", "(2, 3)"), std::string(24, 'x'));
  EXPECT_EQ(Refusal(whole.substr(0, whole.size() - 1)),
            "truncated: 23 bytes of data found where its header makes 24 due");
  EXPECT_EQ(Refusal(whole + "y"), "too long: 25 bytes of data found where its header makes 24 due");
  EXPECT_EQ(Refusal(whole.substr(0, 9)), "truncated after 9 bytes, within the length of its header");
  EXPECT_EQ(Refusal(whole.substr(0, 40)),
            "truncated after 40 bytes, within its header, which ends at byte " + std::to_string(whole.size() - 24));
  for (std::size_t size = 0; size < whole.size(); ++size) Refusal(whole.substr(0, size));
}

TEST_F(Npy, RefusesImpossibleShapesWithoutAllocatingThem) {
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(2, -3)"), "")), "shape has the extent -3; extents are >= 0");
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(99999999999999999999,)"), "")), "shape has an extent beyond 63 bits");
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(4294967296, 4294967296)"), "")),
            "shape has more elements than 63 bits of bytes hold");
  EXPECT_EQ(Refusal(File(Dictionary("<f4", "(1000000000000,)"), "1234")),
            "truncated: 4 bytes of data found where its header makes 4000000000000 due");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  EXPECT_EQ(Refusal(File(Dictionary("<f4", many + ")"), "1234")), "shape has more than 64 extents");
  EXPECT_EQ(Refusal("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s),
            "its header says it has 4294967295 bytes; at most 65536 are read");
}

TEST_F(Npy, SaysWhereAHeaderIsDamaged) {
  EXPECT_EQ(Refusal(File("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "1234")),
            "its header is damaged at character 35, where one True or False is due");
  EXPECT_EQ(Refusal(File("{'descr': '<f4', 'fortran_order': False}", "1234")), "its header has no 'shape'");
  EXPECT_EQ(Refusal(File("{'descr': '<f4', 'shape': (1,)}", "1234")), "its header has no 'fortran_order'");
  EXPECT_EQ(Refusal(File("{}", "1234")), "its header has no 'descr'");
  EXPECT_EQ(Refusal(File("{'what': 1}", "1234")), "its header has the unknown key 'what'");
  EXPECT_EQ(Refusal(File("{'descr': '<f4', 'descr': '<f4'}", "")),
            "its header is damaged at character 32, where one quoted dtype is due");
  EXPECT_EQ(Refusal(File("", "")), "its header is damaged at character 1, where { is due");
}

TEST_F(Npy, SurvivesDamageAtEveryByteOfItsHeader) {
  const std::string whole = File(Dictionary("<f4", "(2, 3)"), std::string(24, '\0'));
  std::int64_t tried = 0;
  for (std::size_t at = 0; at + 24 < whole.size(); ++at) {
    for (const char byte : {'\0', '\xff', '9', '\'', ')', '-', ' '}) {
      std::string damaged = whole;
      damaged[at] = byte;
      const Result<Tensor> tensor = ReadNpy(Write(damaged));
      if (tensor.ok()) {
        EXPECT_EQ(tensor->byte_count(), 24u);
      }
      ++tried;
    }
  }
  EXPECT_EQ(tried, static_cast<std::int64_t>(7 * (whole.size() - 24)));
}

}  // namespace
}  // namespace wgrad::io
