"""The GPU of profiles that tests make up, as a line of a profile has it."""

DEVICE = {"type": "device", "ordinal": 0, "name": "NVIDIA H200", "chip": "GH100", "cc_major": 9, "cc_minor": 0,
          "sm_count": 132, "clock_khz": 1980000, "memory_clock_khz": 3201000, "memory_bus_bits": 6016,
          "sp_dp_ratio": 2, "warp_size": 32, "max_threads_per_sm": 2048, "max_blocks_per_sm": 32,
          "max_threads_per_block": 1024, "registers_per_sm": 65536, "registers_per_block": 65536,
          "shared_per_sm": 233472, "shared_per_block": 49152, "shared_per_block_optin": 232448,
          "reserved_shared_per_block": 1024, "driver_version": 13000}
