import { expect, test } from 'vitest'
import { ByteBuffer } from './byte-buffer.ts'

test('take returns the appended bytes in order and empties the buffer', () => {
  const buffer = new ByteBuffer()
  for (const piece of ['a', '', 'bcd', 'e'.repeat(100)]) buffer.append(Buffer.from(piece))
  expect(buffer.length).toBe(104)
  const taken = buffer.take()
  buffer.append(Buffer.from('next'))
  expect(taken.toString()).toBe(`abcd${'e'.repeat(100)}`)
  expect(buffer.take().toString()).toBe('next')
  expect(buffer.take()).toHaveLength(0)
})

test('2 MiB appended byte by byte use less than 64 MiB of memory', () => {
  const [buffer, before, start] = [new ByteBuffer(), process.memoryUsage.rss(), performance.now()]
  for (let number = 0; number < 2 << 20; number++) buffer.append(Buffer.from([number & 0xff]))
  const memory = process.memoryUsage.rss() - before
  process.stdout.write(`${Math.round(performance.now() - start)} ms, memory grew by ${memory >> 20} MiB\n`)
  expect(buffer.length).toBe(2 << 20)
  expect(memory).toBeLessThan(64 << 20)
})
