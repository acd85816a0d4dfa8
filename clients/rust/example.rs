//! A complete candidate: the plain formula in float32 and float64, summed in float64.
//!
//!     rustc -O clients/rust/example.rs -o example && wgrad check cmd:./example
mod wgrad_candidate;

use wgrad_candidate::{serve, Call, Data, Failure, Tensor};

const GREETING: &str = r#"{"name": "rust", "version": "1", "dtypes": ["f32", "f64"], "pad": "skip",
    "deterministic": true, "accuracy_class": {"f32": "wide:f64", "f64": "order"}}"#;

/// A tensor's elements as float64, and its sizes and the distances between neighbours along n, h, w and c.
fn as_images(tensor: &Tensor, data_format: &str) -> (Vec<f64>, [usize; 4], [usize; 4]) {
    let (mut sizes, mut steps, mut step) = ([0; 4], [0; 4], 1);
    for (axis, letter) in data_format.char_indices().rev() {
        let at = "NHWC".find(letter).unwrap();
        sizes[at] = tensor.shape[axis];
        steps[at] = step;
        step *= tensor.shape[axis];
    }
    (tensor.data.to_f64(), sizes, steps)
}

/// Where output `o` and tap `k` meet, if that is in the image: padding takes no part, not even beside an infinity.
fn position(call: &Call, axis: usize, o: usize, k: usize, size: usize) -> Option<usize> {
    let shifted = o * call.strides[axis] + k * call.dilations[axis];
    shifted.checked_sub(call.pads[axis][0]).filter(|&at| at < size)
}

fn filter_gradient(call: &Call) -> Result<Data, Failure> {
    let (x, [_, height, width, _], x_step) = as_images(&call.input, &call.data_format);
    let (dy, [n_count, oh_count, ow_count, _], dy_step) = as_images(&call.out_backprop, &call.data_format);
    let [kh_count, kw_count, ic_count, oc_count] = call.filter_sizes;
    let mut dw = vec![0.0; kh_count * kw_count * ic_count * oc_count];
    for (at, sum) in dw.iter_mut().enumerate() {
        let (tap, ic, oc) = (at / oc_count / ic_count, at / oc_count % ic_count, at % oc_count);
        let (kh, kw) = (tap / kw_count, tap % kw_count);
        let c = oc / (oc_count / call.groups) * ic_count + ic;
        for n in 0..n_count {
            for oh in 0..oh_count {
                let Some(ih) = position(call, 0, oh, kh, height) else { continue };
                for ow in 0..ow_count {
                    let Some(iw) = position(call, 1, ow, kw, width) else { continue };
                    let x_at = n * x_step[0] + ih * x_step[1] + iw * x_step[2] + c * x_step[3];
                    let dy_at = n * dy_step[0] + oh * dy_step[1] + ow * dy_step[2] + oc * dy_step[3];
                    *sum += x[x_at] * dy[dy_at];
                }
            }
        }
    }
    Ok(Data::from_f64(dw, &call.dtype))
}

fn main() {
    serve(GREETING, filter_gradient)
}
