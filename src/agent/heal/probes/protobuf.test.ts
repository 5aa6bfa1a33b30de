import { array, assert, integer, property, record, string } from 'fast-check'
import { expect, test } from 'vitest'
import { readFields, readNumberField, readBytesFields, readTextField } from './protobuf.ts'

/** Examples of the protocol buffers documentation: 150 in field 1 and `testing` in field 2. */
const example = Buffer.from('089601120774657374696e67', 'hex')

test('a message is read as the format says', () => {
  expect(readNumberField(example, 1)).toBe(150)
  expect(readTextField(example, 2)).toBe('testing')
  expect([...readFields(example)].map(({ number }) => number)).toEqual([1, 2])
})

test('what is left out is nothing', () => {
  expect(readNumberField(example, 3)).toBe(0)
  expect(readTextField(example, 3)).toBe('')
  expect(readBytesFields(example, 1)).toEqual([])
})

test('fields of fixed length are read over', () => {
  const long = Buffer.concat([Buffer.from([0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4]), example])
  expect(readTextField(long, 2)).toBe('testing')
})

test('a message that is cut is an error, and so is a number that does not end', () => {
  expect(() => [...readFields(example.subarray(0, -1))]).toThrow('cut')
  expect(() => [...readFields(Buffer.alloc(20, 0xff))]).toThrow('does not end')
  expect(() => [...readFields(Buffer.from([0x0b]))]).toThrow('type 3')
})

test('what was written is read, whatever it is', () => {
  const field = record({
    number: integer({ min: 1, max: 500_000 }),
    text: string({ unit: 'grapheme' }),
  })
  assert(
    property(array(field), (fields) => {
      const message = Buffer.concat(
        fields.map(({ number, text }) => {
          const bytes = Buffer.from(text)
          return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
        }),
      )
      const read = [...readFields(message)].map(({ number, value }) => ({
        number,
        text: value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : '',
      }))
      expect(read).toEqual(fields)
    }),
  )
})

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}
