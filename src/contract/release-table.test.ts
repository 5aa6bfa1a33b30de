import { assert, asyncProperty, integer } from 'fast-check'
import { expect, test } from 'vitest'
import {
  createBlankTable,
  decodeTable,
  encodeTable,
  hashWithoutTable,
  isOfRelease,
  type ReleaseTable,
  tableBytes,
  tableMagic,
} from './release-table.ts'

async function* toChunks(content: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < content.length; start += size) yield content.subarray(start, start + size)
}

/** An executable with a blank table, as the build script makes it before it knows the digests. */
function createFile(before: number, after: number): Buffer {
  return Buffer.concat([Buffer.alloc(before, 1), createBlankTable(), Buffer.alloc(after, 2)])
}

async function describeFile(blank: Buffer): Promise<ReleaseTable['files'][string]> {
  const offset = blank.indexOf(tableMagic) + tableMagic.length
  const { sha256, size } = await hashWithoutTable(toChunks(blank, 100), offset)
  return { sha256, offset, size }
}

function insertTable(blank: Buffer, table: ReleaseTable): Buffer {
  const file = Buffer.from(blank)
  encodeTable(table).copy(file, file.indexOf(tableMagic) + tableMagic.length)
  return file
}

async function createRelease(): Promise<{ table: ReleaseTable; one: Buffer; two: Buffer }> {
  const [blankOne, blankTwo] = [createFile(10, 5), createFile(3000, 70)]
  const files = { one: await describeFile(blankOne), two: await describeFile(blankTwo) }
  const table = { url: 'https://example.com/v1', files }
  return { table, one: insertTable(blankOne, table), two: insertTable(blankTwo, table) }
}

test('two executables verify each other, whatever the size of the chunks', async () => {
  const { table, one, two } = await createRelease()
  await assert(
    asyncProperty(integer({ min: 1, max: 5000 }), async (size) => {
      expect(await isOfRelease(toChunks(one, size), 'one', table)).toBe(true)
      expect(await isOfRelease(toChunks(two, size), 'two', table)).toBe(true)
    }),
    { numRuns: 20 },
  )
})

test('a change of any byte is refused, also inside the table', async () => {
  const { table, one } = await createRelease()
  await assert(
    asyncProperty(integer({ min: 0, max: one.length - 1 }), async (position) => {
      const changed = Buffer.from(one)
      changed[position] = (changed[position] ?? 0) ^ 1
      expect(await isOfRelease(toChunks(changed, 500), 'one', table)).toBe(false)
    }),
  )
})

test('a shortened, an unknown and an exchanged file are refused', async () => {
  const { table, one, two } = await createRelease()
  expect(await isOfRelease(toChunks(one.subarray(0, -1), 500), 'one', table)).toBe(false)
  expect(await isOfRelease(toChunks(one.subarray(0, 20), 500), 'one', table)).toBe(false)
  expect(await isOfRelease(toChunks(two, 500), 'one', table)).toBe(false)
  expect(await isOfRelease(toChunks(one, 500), 'three', table)).toBe(false)
})

test('a blank table is read as no table, and a table that is too long is refused', async () => {
  const { table } = await createRelease()
  expect(decodeTable(createBlankTable())).toBeUndefined()
  expect(decodeTable(Buffer.concat([tableMagic, encodeTable(table)]))).toEqual(table)
  expect(() => encodeTable({ ...table, url: `https://example.com/${'a'.repeat(tableBytes)}` })).toThrow(
    'the release table has',
  )
})
