import { assert, asyncProperty, integer } from 'fast-check'
import { expect, test } from 'vitest'
import { databaseBytes } from './database.ts'
import { databaseOf, piecesOf } from './testing/fixtures.ts'

const whole = databaseOf(4)
const silent = (): void => undefined

async function all(bytes: Buffer, size: number): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(databaseBytes(piecesOf(bytes, size), silent)))
}

test('it comes in whatever pieces, with etcd’s digest at its end', async () => {
  await assert(
    asyncProperty(integer({ min: 1, max: whole.length }), async (size) => {
      expect((await all(whole, size)).equals(whole)).toBe(true)
    }),
  )
})

test('a byte that changed on its way is found, also one of the digest', async () => {
  await assert(
    asyncProperty(integer({ min: 0, max: whole.length - 1 }), async (at) => {
      const bytes = Buffer.from(whole)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      await expect(all(bytes, 500)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_WHOLE' })
    }),
  )
})

test('an end that comes too early is found', async () => {
  for (const length of [0, 31, 32, 512, 544, whole.length - 32, whole.length - 1]) {
    await expect(all(whole.subarray(0, length), 500)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_WHOLE' })
  }
})

test('whoever watches hears how much there is', async () => {
  const told: (readonly number[])[] = []
  const bytes = databaseBytes(piecesOf(whole, 1024), (...numbers) => told.push(numbers))
  for await (const _ of bytes);
  expect(told).toEqual([
    [1024, 2048],
    [2048, 2048],
    [2080, 2080],
  ])
})

test('one that fits into no archive is refused at its first piece', async () => {
  const pieces = (async function* () {
    yield { bytes: Buffer.alloc(512), remaining: 8 ** 11 }
  })()
  await expect(Array.fromAsync(databaseBytes(pieces, silent))).rejects.toMatchObject({
    code: 'SNAPSHOT_TOO_LARGE',
  })
})
