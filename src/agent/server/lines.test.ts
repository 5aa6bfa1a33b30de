import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readLines } from './lines.ts'

async function all(...chunks: readonly string[]): Promise<string[]> {
  return Array.fromAsync(readLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk)))))
}

test('lines come whole, however they arrive', async () => {
  expect(await all('on', 'e\ntwo\nth', 'ree\n')).toEqual(['one', 'two', 'three'])
  expect(await all('ü'.repeat(3), '\n\n')).toEqual(['üüü', ''])
})

test('an unfinished line is no line', async () => {
  expect(await all('one\ntw')).toEqual(['one'])
  expect(await all()).toEqual([])
})
