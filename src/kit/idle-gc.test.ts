import { expect, test } from 'vitest'
import { startIdleGc } from './idle-gc.ts'
import { pollUntil } from './poll.ts'

const size = 64 * 2 ** 20

test('unused memory is freed without new allocations', async () => {
  const stop = startIdleGc(10)
  try {
    const buffers = [Buffer.alloc(size)]
    const allocated = process.memoryUsage().arrayBuffers
    expect(allocated).toBeGreaterThanOrEqual(size)
    buffers.length = 0
    // All other buffers together are smaller, so only the freed buffers can cause this decrease.
    await pollUntil(
      'the buffer to be freed',
      async () => process.memoryUsage().arrayBuffers < allocated - size / 2,
      {
        timeoutMs: 10_000,
        intervalMs: 10,
      },
    )
  } finally {
    stop()
  }
})
