"""glTF files as JSON and bytes: what lies in them of materials and images, and a copy whose materials are numbered."""

from __future__ import annotations

import base64
import binascii
import copy
import io
import json
import struct
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from ..errors import SceneError

MAGIC, JSON_CHUNK, BIN_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942
WRAPS = {33071: "clamp", 33648: "mirror", 10497: "repeat"}
NEAREST = 9728


class Document:
    """The JSON of a .gltf or .glb file (2.0), and its buffers on demand. Raises ValueError for a broken file."""

    def __init__(self, path: Path):
        self.path = path
        data = path.read_bytes()
        self.binary = b""
        if data[:4] == b"glTF":
            text = b""
            at = 12
            while at + 8 <= len(data):
                size, kind = struct.unpack_from("<II", data, at)
                chunk = data[at + 8 : at + 8 + size]
                if kind == JSON_CHUNK:
                    text = chunk
                elif kind == BIN_CHUNK and not self.binary:
                    self.binary = chunk
                at += 8 + size
        else:
            text = data
        self.json = json.loads(text.decode("utf-8"))
        if not isinstance(self.json, dict):
            raise ValueError("its JSON is not an object")
        self._images: dict[tuple, np.ndarray] = {}

    def numbered(self) -> tuple[io.BytesIO, str]:
        """(the file again, its type) with the number of each material as its name."""
        tree = copy.deepcopy(self.json)
        for i, material in enumerate(tree.get("materials", [])):
            material["name"] = str(i)
        text = json.dumps(tree).encode()
        if not self.binary:
            return io.BytesIO(text), "gltf"
        text += b" " * (-len(text) % 4)
        binary = self.binary + b"\0" * (-len(self.binary) % 4)
        head = struct.pack("<III", MAGIC, 2, 28 + len(text) + len(binary))
        chunks = struct.pack("<II", len(text), JSON_CHUNK) + text + struct.pack("<II", len(binary), BIN_CHUNK) + binary
        return io.BytesIO(head + chunks), "glb"

    def buffer(self, index: int) -> bytes:
        """A buffer's bytes."""
        uri = self.json["buffers"][index].get("uri")
        return self.binary if uri is None else self._uri(uri)

    def _uri(self, uri: str) -> bytes:
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2])
            except binascii.Error as error:
                raise SceneError(str(self.path), f"a data URI cannot be read: {error}", "export it again") from None
        file = self.path.parent / unquote(uri)
        if not file.is_file():
            raise SceneError(str(self.path), f"no such file: {file}", "keep it beside the .gltf file")
        return file.read_bytes()

    def texture(self, info: dict, srgb: bool) -> tuple[np.ndarray, str, str]:
        """(pixels (h, w, 1 to 4) in [0, 1], wrap, filter) of a textureInfo; ``srgb`` decodes colours to linear."""
        import imageio.v3 as iio

        from .images import srgb_to_linear

        texture = self.json["textures"][info["index"]]
        if "source" not in texture:
            raise ValueError("its texture is in a format of an extension")
        number = texture["source"]
        if (number, srgb) not in self._images:
            image = self.json["images"][number]
            if "uri" in image:
                data = self._uri(image["uri"])
            else:
                view = self.json["bufferViews"][image["bufferView"]]
                start = view.get("byteOffset", 0)
                data = self.buffer(view["buffer"])[start : start + view["byteLength"]]
            stored = np.asarray(iio.imread(data, plugin="pillow"))
            stored = stored.astype(np.uint8) * 255 if stored.dtype == bool else stored
            pixels = stored.astype(np.float64) / np.iinfo(stored.dtype).max
            pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
            colours = pixels.shape[2] - (pixels.shape[2] % 2 == 0)
            if srgb:
                pixels[:, :, :colours] = srgb_to_linear(pixels[:, :, :colours])
            self._images[number, srgb] = pixels
        sampler = self.json["samplers"][texture["sampler"]] if "sampler" in texture else {}
        wrap = WRAPS.get(sampler.get("wrapS", 10497), "repeat")
        if sampler.get("wrapT", 10497) != sampler.get("wrapS", 10497):
            raise ValueError("its texture wraps differently along u and v")
        return self._images[number, srgb], wrap, "nearest" if sampler.get("magFilter") == NEAREST else "bilinear"
