// oneDNN's convolution_backward_weights as a plugin like any other. Variant "plain" computes on the caller's layouts;
// "any_filter" lets the library choose the filter's, as frameworks do, and "any" all of them, with reorders around it.
// With "_sse41" or "_avx2" behind it, a variant keeps to these instructions, so that what older processors get is
// judged as well. One thread, so that a run can be repeated.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "candidates/plugin/wgrad_plugin.h"

namespace {

using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using dnnl::memory;

struct Variant {
  std::string_view layouts;  // who chooses them
  dnnl::cpu_isa isa;         // the most that may be used
};

Variant VariantCalled(std::string_view name) {
  struct Suffix {
    std::string_view text;
    dnnl::cpu_isa isa;
  };
  for (const Suffix& suffix : {Suffix{"_sse41", dnnl::cpu_isa::sse41}, Suffix{"_avx2", dnnl::cpu_isa::avx2}}) {
    if (name.size() <= suffix.text.size()) continue;
    const std::size_t rest = name.size() - suffix.text.size();
    if (name.substr(rest) == suffix.text) return {name.substr(0, rest), suffix.isa};
  }
  return {name, dnnl::cpu_isa::all};
}

// oneDNN fixes its instruction set the first time that it uses it, for the whole process: the limit must come before
// everything else. A process serves one variant.
void LimitIsa(dnnl::cpu_isa isa) {
  static dnnl::cpu_isa limit = dnnl::cpu_isa::all;
  if (isa == limit) return;
  if (dnnl::set_max_cpu_isa(isa) != dnnl::status::success)
    throw std::runtime_error("too late to limit the instruction set: WGRAD_VARIANT did not name the variant");
  limit = isa;
}

struct Library {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Library& TheLibrary() {
  static Library library;
  return library;
}

struct Layouts {
  memory::desc input;
  memory::desc out_backprop;
  memory::desc filter_backprop;
};

memory::data_type TypeOf(int32_t dtype) {
  return dtype == WGRAD_BF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

// HWIO of all groups is hwigo: a group's outputs stand next to each other.
Layouts CallersLayouts(const wgrad_call& call) {
  const auto images = call.data_format == WGRAD_NHWC ? memory::format_tag::nhwc : memory::format_tag::nchw;
  const memory::data_type type = TypeOf(call.dtype);
  const memory::data_type result_type = TypeOf(call.result_dtype);
  const int64_t outputs = call.out_depth / call.groups;
  const memory::desc input({call.batch, call.input_depth, call.input_height, call.input_width}, type, images);
  const memory::desc out_backprop({call.batch, call.out_depth, call.output_height, call.output_width}, type, images);
  if (call.groups == 1) {
    return {input, out_backprop,
            memory::desc({outputs, call.filter_depth, call.filter_height, call.filter_width}, result_type,
                         memory::format_tag::hwio)};
  }
  return {input, out_backprop,
          memory::desc({call.groups, outputs, call.filter_depth, call.filter_height, call.filter_width}, result_type,
                       memory::format_tag::hwigo)};
}

memory::desc LibrarysChoice(const memory::desc& desc, memory::data_type type) {
  return memory::desc(desc.dims(), type, memory::format_tag::any);
}

// `layouts` may leave the choice to the library. A forward descriptor must go ahead as a hint.
convolution_backward_weights::primitive_desc Describe(const wgrad_call& call, const Layouts& layouts) {
  const memory::dims strides = {call.stride_height, call.stride_width};
  const memory::dims dilations = {call.dilation_height - 1, call.dilation_width - 1};  // counted from 0 here
  const memory::dims before = {call.pad_top, call.pad_left};
  const memory::dims after = {call.pad_bottom, call.pad_right};
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = TheLibrary().engine;
  const convolution_forward::primitive_desc hint(
      convolution_forward::desc(dnnl::prop_kind::forward_training, algorithm, layouts.input,
                                LibrarysChoice(layouts.filter_backprop, TypeOf(call.dtype)), layouts.out_backprop,
                                strides, dilations, before, after),
      engine);
  return {convolution_backward_weights::desc(algorithm, layouts.input, layouts.filter_backprop, layouts.out_backprop,
                                             strides, dilations, before, after),
          engine, hint};
}

// `own` in the layout `wanted`: itself, or a copy of it.
memory InLayout(memory own, const memory::desc& wanted) {
  if (own.get_desc() == wanted) return own;
  Library& library = TheLibrary();
  memory copy(wanted, library.engine);
  dnnl::reorder(own, copy).execute(library.stream, own, copy);
  return copy;
}

memory Borrow(const memory::desc& desc, const void* data) {
  return memory(desc, TheLibrary().engine, const_cast<void*>(data));
}

Layouts LayoutsChosen(const Layouts& own, std::string_view by) {
  Layouts layouts = own;
  if (by != "plain") layouts.filter_backprop = LibrarysChoice(own.filter_backprop, own.filter_backprop.data_type());
  if (by == "any") {
    layouts.input = LibrarysChoice(own.input, own.input.data_type());
    layouts.out_backprop = LibrarysChoice(own.out_backprop, own.out_backprop.data_type());
  }
  return layouts;
}

void Compute(const wgrad_call& call) {
  const Variant variant = VariantCalled(call.variant);
  LimitIsa(variant.isa);
  const Layouts own = CallersLayouts(call);
  const Layouts layouts = LayoutsChosen(own, variant.layouts);
  const auto description = Describe(call, layouts);
  const memory input = InLayout(Borrow(own.input, call.input), description.src_desc());
  const memory out_backprop = InLayout(Borrow(own.out_backprop, call.out_backprop), description.diff_dst_desc());
  const memory result = Borrow(own.filter_backprop, call.filter_backprop);
  const bool direct = description.diff_weights_desc() == own.filter_backprop;
  memory computed = direct ? result : memory(description.diff_weights_desc(), TheLibrary().engine);
  dnnl::stream& stream = TheLibrary().stream;
  convolution_backward_weights(description)
      .execute(stream, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DIFF_DST, out_backprop}, {DNNL_ARG_DIFF_WEIGHTS, computed}});
  if (!direct) {
    memory to = result;
    dnnl::reorder(computed, to).execute(stream, computed, to);
  }
  stream.wait();
}

bool HasEmptyTensor(const wgrad_call& call) {
  return std::min({call.batch, call.input_height, call.input_width, call.filter_height, call.filter_width,
                   call.out_depth, call.output_height, call.output_width}) == 0;
}

wgrad_code CodeOf(const dnnl::error& error, const wgrad_call& call) {
  if (error.status == dnnl_unimplemented) return WGRAD_UNSUPPORTED;
  if (error.status == dnnl_invalid_arguments) return HasEmptyTensor(call) ? WGRAD_UNSUPPORTED : WGRAD_REJECTED;
  return WGRAD_ERROR;
}

int Say(const wgrad_call& call, wgrad_code code, const char* what) {
  std::snprintf(call.message, call.message_size, "oneDNN: %s", what);
  return code;
}

// Whether this processor gets a bfloat16 kernel for the smallest problem.
bool HasBFloat16(int32_t result_dtype) {
  wgrad_call call{};
  call.batch = call.input_height = call.input_width = call.input_depth = 1;
  call.filter_height = call.filter_width = call.filter_depth = call.out_depth = 1;
  call.output_height = call.output_width = call.groups = 1;
  call.stride_height = call.stride_width = call.dilation_height = call.dilation_width = 1;
  call.dtype = WGRAD_BF16;
  call.result_dtype = result_dtype;
  try {
    Describe(call, CallersLayouts(call));
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

std::string IsaName() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "other";
  }
}

std::string Capabilities() {
  // The host's promise: already here it says which variant the process will serve.
  const char* const name = std::getenv("WGRAD_VARIANT");
  LimitIsa(VariantCalled(name == nullptr ? "" : name).isa);
  const dnnl_version_t& version = *dnnl_version();
  const std::string number =
      std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
  const std::string isa = IsaName();
  std::string dtypes = "\"f32\"";
  if (HasBFloat16(WGRAD_BF16)) dtypes += ", \"bf16\"";
  if (HasBFloat16(WGRAD_F32)) dtypes += ", \"bf16_f32\"";
  // The dot product instruction for bfloat16 flushes subnormal inputs and results.
  const bool flushes = isa == "avx512_core_bf16" || isa == "avx512_core_amx";
  const std::string flush = flushes ? "true" : "false";
  return "{\"name\": \"onednn\", \"version\": \"" + number + "\", \"libraries\": {\"oneDNN\": \"" + number + ", " +
         isa +
         "\"}, \"variants\": [\"plain\", \"any_filter\", \"any\", \"plain_sse41\", \"plain_avx2\", \"any_sse41\", "
         "\"any_filter_avx2\", \"any_avx2\"], \"dtypes\": [" +
         dtypes +
         "], \"accuracy_class\": {\"f32\": \"order\", \"bf16\": \"wide_hw\", \"bf16_f32\": \"order_hw\"}, "
         "\"pad\": \"either\", \"ftz\": " +
         flush + ", \"daz\": " + flush + "}";
}

}  // namespace

int wgrad_plugin_version() { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities() {
  static const std::string text = Capabilities();
  return text.c_str();
}

int wgrad_filter_gradient(const wgrad_call* call) {
  omp_set_num_threads(1);
  try {
    Compute(*call);
    return WGRAD_OK;
  } catch (const dnnl::error& error) {
    return Say(*call, CodeOf(error, *call), error.what());
  } catch (const std::exception& error) {
    return Say(*call, WGRAD_ERROR, error.what());
  }
}
