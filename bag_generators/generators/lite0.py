"""EfficientNet-Lite0 (Tan & Le 2019, without squeeze and excitation) as a torch module: pictures in, feature maps out.

Batch normalisation is folded into the convolutions, so the network is a list of convolutions with clipped activations,
fully convolutional, for pictures of any size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

STAGES = (
    (3, 1, 1, 1),
    (3, 2, 6, 2),
    (5, 2, 6, 2),
    (3, 2, 6, 3),
    (5, 1, 6, 3),
    (5, 2, 6, 4),
    (3, 1, 6, 1),
)
"""Kernel, stride of the first block, expansion, blocks."""
HEAD = 8
"""The number of the last layer among the stages."""
BLOCKS = tuple(
    (f"block{sum(s[3] for s in STAGES[: stage - 1]) + i}", kernel, stride if i == 0 else 1, expansion > 1, stage)
    for stage, (kernel, stride, expansion, count) in enumerate(STAGES, start=1)
    for i in range(count)
)
"""Name of the tensors, kernel, stride, whether it expands, stage."""


class Lite0(nn.Module):
    """The network; `layers` are its tensors by name, as `assets/encoder` holds them."""

    def __init__(self, layers: Mapping[str, np.ndarray]) -> None:
        super().__init__()
        # A ParameterDict takes no dots in its keys.
        self.layers = nn.ParameterDict(
            {
                name.replace(".", "_"): nn.Parameter(torch.from_numpy(np.array(array, np.float32)))
                for name, array in layers.items()
                if name.startswith(("stem", "block", "head"))
            }
        )

    def maps(self, pixels: Tensor) -> dict[int, Tensor]:
        """(b, 3, h, w) in 0..255 → the last map of every stage; `HEAD` is the last layer, 1,280 channels."""
        x = functional.relu6(self._convolve((pixels - 127) / 128, "stem", 3, 2), inplace=True)
        out: dict[int, Tensor] = {}
        for name, kernel, stride, expands, stage in BLOCKS:
            y = functional.relu6(self._convolve(x, f"{name}_expand"), inplace=True) if expands else x
            y = functional.relu6(self._convolve(y, f"{name}_depthwise", kernel, stride, depthwise=True), inplace=True)
            y = self._convolve(y, f"{name}_project")
            x = y + x if y.shape == x.shape and stride == 1 else y
            out[stage] = x
        return {**out, HEAD: functional.relu6(self._convolve(x, "head"), inplace=True)}

    def _convolve(self, x: Tensor, name: str, kernel: int = 1, stride: int = 1, depthwise: bool = False) -> Tensor:
        """A convolution with TensorFlow's padding, which is uneven where the stride is 2."""
        even = kernel // 2 if stride == 1 else 0
        if stride > 1:
            x = functional.pad(x, (*padding(x.shape[-1], kernel, stride), *padding(x.shape[-2], kernel, stride)))
        weight, bias = self.layers[f"{name}_weight"], self.layers[f"{name}_bias"]
        return functional.conv2d(x, weight, bias, stride, even, groups=x.shape[1] if depthwise else 1)


def padding(side: int, kernel: int, stride: int) -> tuple[int, int]:
    """Pixels to add before and after a side, so that a stride of s divides it by s, rounded up."""
    total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
    return total // 2, total - total // 2
