import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readLines, watchLines } from './lines.ts'
import { countFlood, createFlood } from './testing/flood.ts'

async function all(...chunks: readonly string[]): Promise<string[]> {
  return Array.fromAsync(readLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), 6))
}

test('readLines joins chunks to whole lines', async () => {
  expect(await all('on', 'e\ntwo\r\nth', 'ree\n')).toEqual(['one', 'two', 'three'])
  expect(await all('ü'.repeat(3), '\n\n')).toEqual(['üüü', ''])
})

test('readLines ignores an incomplete last line', async () => {
  expect(await all('one\ntw')).toEqual(['one'])
  expect(await all()).toEqual([])
})

test('a line above the limit is an error', async () => {
  await expect(all('one\nsev', 'en77\n')).rejects.toMatchObject({ code: 'AGENT_LINE_TOO_LONG', maxBytes: 6 })
  expect(await all('123456\n')).toEqual(['123456'])
})

test('a watcher skips a line above the limit and reads the next ones', async () => {
  const [stream, lines] = [new PassThrough(), [] as string[]]
  watchLines(stream, (line) => lines.push(line), 6)
  for (const chunk of ['one\ntoo ', 'long\ntw', 'o\nlast']) stream.write(chunk)
  stream.end()
  await new Promise((resolve) => stream.on('end', resolve))
  expect(lines).toEqual(['one', 'two', 'last'])
})

test('a line of 512 MiB ends the reader after its limit', async () => {
  const flood = createFlood(512 << 20)
  const { memory, read } = await countFlood(flood, async () => {
    await expect(Array.fromAsync(readLines(flood.stream))).rejects.toThrow('longer than 33554432 bytes')
  })
  expect(read).toBeLessThan(33 << 20)
  expect(memory).toBeLessThan(200 << 20)
  expect(flood.stream.destroyed).toBe(true)
})

test('a watcher keeps nothing of a line of 512 MiB', async () => {
  const flood = createFlood(512 << 20)
  const { memory, read } = await countFlood(flood, async () => {
    watchLines(flood.stream, (line) => expect(line).toBe(''))
    await new Promise((resolve) => flood.stream.on('end', resolve))
  })
  expect(read).toBe(512 << 20)
  // Chunks that were read stay in memory until the garbage collector runs, which a busy machine delays.
  expect(memory).toBeLessThan(200 << 20)
})
