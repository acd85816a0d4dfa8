#include "candidates/plugin/plugin_library.h"

#include <dlfcn.h>
#include <elf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

namespace wgrad::candidates {
namespace {

Error Unloadable(const std::string& path, const std::string& why) { return {ErrorCode::kBadFile, path + " " + why}; }

// The fields that 32-bit and 64-bit ELF files have in the same places.
struct ElfStart {
  unsigned char file_class = 0;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
};

std::optional<ElfStart> ReadElfStart(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, EI_NIDENT + 4> bytes{};
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  if (std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
  ElfStart start;
  start.file_class = static_cast<unsigned char>(bytes[EI_CLASS]);
  std::memcpy(&start.type, &bytes[EI_NIDENT], sizeof start.type);
  std::memcpy(&start.machine, &bytes[EI_NIDENT + 2], sizeof start.machine);
  if (bytes[EI_DATA] == ELFDATA2MSB) {
    start.type = __builtin_bswap16(start.type);
    start.machine = __builtin_bswap16(start.machine);
  }
  return start;
}

std::string NameOfMachine(const ElfStart& start) {
  switch (start.machine) {
    case EM_X86_64:
      return start.file_class == ELFCLASS32 ? "x32" : "x86-64";
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "32-bit arm";
    case EM_RISCV:
      return "riscv";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    default:
      return "ELF machine " + std::to_string(start.machine);
  }
}

// What dlopen would say less clearly.
Status CheckFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Error{ErrorCode::kNotFound, "there is no file " + path};
  if (std::filesystem::is_directory(path, error)) return Unloadable(path, "is a folder, not a shared library");
  if (!std::ifstream(path)) return Unloadable(path, "cannot be read");
  const auto start = ReadElfStart(path);
  if (!start) return Unloadable(path, "is not a shared library: it does not begin with an ELF header");
  const auto own = ReadElfStart("/proc/self/exe");
  if (own && (own->machine != start->machine || own->file_class != start->file_class)) {
    return Unloadable(path, "is built for " + NameOfMachine(*start) + ", this program for " + NameOfMachine(*own));
  }
  if (start->type != ET_DYN) {
    return Unloadable(
        path, std::string("is ") + (start->type == ET_REL ? "an object file" : "a program") + ", not a shared library");
  }
  return Ok();
}

// The exported function `name` as an `F`, or null.
template <typename F>
F* Find(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

Result<ProcessGreeting> ReadCapabilities(const std::string& path, const char* (*capabilities)()) {
  const std::string name = std::filesystem::path(path).stem().string();
  if (capabilities == nullptr) return ParseCapabilities(io::Json::MakeObject(), name);
  const char* text = capabilities();
  if (text == nullptr) return Unloadable(path, "returns a null pointer from wgrad_capabilities");
  const Result<io::Json> fields = io::Parse(text);
  if (!fields.ok()) return Unloadable(path, "has capabilities that are no JSON: " + fields.error().message);
  Result<ProcessGreeting> greeting = ParseCapabilities(*fields, name);
  if (!greeting.ok()) return Unloadable(path, "has wrong capabilities: " + greeting.error().message);
  return greeting;
}

}  // namespace

Result<PluginLibrary> LoadPlugin(const std::string& path) {
  if (const Status status = CheckFile(path); !status.ok()) return status.error();
  // A path with a slash, so that the loader does not search for it.
  const std::string absolute = std::filesystem::absolute(path).string();
  void* library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unloadable(path, std::string("cannot be loaded: ") + dlerror());
  auto* version = Find<int()>(library, "wgrad_plugin_version");
  if (version == nullptr) return Unloadable(path, "exports no function wgrad_plugin_version");
  auto* filter_gradient = Find<int(const wgrad_call*)>(library, "wgrad_filter_gradient");
  if (filter_gradient == nullptr) return Unloadable(path, "exports no function wgrad_filter_gradient");
  if (const int got = version(); got != WGRAD_PLUGIN_VERSION) {
    return Unloadable(
        path, "has plugin version " + std::to_string(got) + ", expected " + std::to_string(WGRAD_PLUGIN_VERSION));
  }
  Result<ProcessGreeting> greeting = ReadCapabilities(path, Find<const char*()>(library, "wgrad_capabilities"));
  if (!greeting.ok()) return greeting.error();
  return PluginLibrary{filter_gradient, std::move(greeting).value()};
}

}  // namespace wgrad::candidates
