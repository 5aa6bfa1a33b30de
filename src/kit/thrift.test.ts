import { expect, test } from 'vitest'
import { giveBackMemory } from './thrift.ts'
import { until } from './until.ts'

const size = 64 * 2 ** 20

test('what nobody has any longer is given back, though nobody asks for more', async () => {
  const stop = giveBackMemory(10)
  try {
    const before = process.memoryUsage().arrayBuffers
    const buffers = [Buffer.alloc(size)]
    expect(process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(before + size)
    buffers.length = 0
    await until('it to be gone', async () => process.memoryUsage().arrayBuffers < before + size, {
      within: 10_000,
      every: 10,
    })
  } finally {
    stop()
  }
})
