import { expect, test } from 'vitest'
import { giveBackMemory } from './idle-gc.ts'
import { until } from './poll-until.ts'

const size = 64 * 2 ** 20

test('what nobody has any longer is given back, though nobody asks for more', async () => {
  const stop = giveBackMemory(10)
  try {
    const buffers = [Buffer.alloc(size)]
    const held = process.memoryUsage().arrayBuffers
    expect(held).toBeGreaterThanOrEqual(size)
    buffers.length = 0
    // Of others little is left by now that could go instead.
    await until('it to be gone', async () => process.memoryUsage().arrayBuffers < held - size / 2, {
      within: 10_000,
      every: 10,
    })
  } finally {
    stop()
  }
})
