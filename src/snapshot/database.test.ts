import { assert, asyncProperty, integer } from 'fast-check'
import { expect, test } from 'vitest'
import { streamDatabase } from './database.ts'
import { buildDatabase, splitIntoPieces } from './testing/fixtures.ts'

const complete = buildDatabase(4)
const ignoreProgress = (): void => undefined

async function readAll(bytes: Buffer, size: number): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(streamDatabase(splitIntoPieces(bytes, size), ignoreProgress)))
}

test('a database in pieces of any size is streamed unchanged, with the etcd digest at its end', async () => {
  await assert(
    asyncProperty(integer({ min: 1, max: complete.length }), async (size) => {
      expect((await readAll(complete, size)).equals(complete)).toBe(true)
    }),
  )
})

test('a changed byte of the database or its digest is detected', async () => {
  await assert(
    asyncProperty(integer({ min: 0, max: complete.length - 1 }), async (at) => {
      const bytes = Buffer.from(complete)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      await expect(readAll(bytes, 500)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_WHOLE' })
    }),
  )
})

test('a truncated database is detected', async () => {
  for (const length of [0, 31, 32, 512, 544, complete.length - 32, complete.length - 1]) {
    await expect(readAll(complete.subarray(0, length), 500)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_WHOLE',
    })
  }
})

test('progress is reported with the total', async () => {
  const reported: (readonly number[])[] = []
  const bytes = streamDatabase(splitIntoPieces(complete, 1024), (...numbers) => reported.push(numbers))
  for await (const _ of bytes);
  expect(reported).toEqual([
    [1024, 2048],
    [2048, 2048],
    [2080, 2080],
  ])
})

test('a database that is too large for an archive is refused at its first piece', async () => {
  const pieces = (async function* () {
    yield { bytes: Buffer.alloc(512), remaining: 8 ** 11 }
  })()
  await expect(Array.fromAsync(streamDatabase(pieces, ignoreProgress))).rejects.toMatchObject({
    code: 'SNAPSHOT_TOO_LARGE',
  })
})
