"""Hugging Face transformers: a small GPT-2 with random weights writes some tokens, with its cache of keys and
values, in half precision; each step has other shapes."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from common import DEVICE, cannot, deterministic_torch, show_tensors  # noqa: E402

torch = deterministic_torch()
try:
    from transformers import GPT2Config, GPT2LMHeadModel
except ImportError as problem:
    cannot(f"no transformers: {problem}")

shape = GPT2Config(vocab_size=500, n_positions=128, n_embd=128, n_layer=4, n_head=4, bos_token_id=1, eos_token_id=2,
                   pad_token_id=0)
model = GPT2LMHeadModel(shape).eval().half().to(DEVICE)
prompt = torch.randint(3, 500, (2, 8)).to(DEVICE)
with torch.no_grad():
    written = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, min_new_tokens=12,
                             do_sample=False)
    scores = model(written).logits
print("tokens:", written.tolist())
show_tensors("scores", (scores,))
