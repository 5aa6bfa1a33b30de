import { expect, test } from 'vitest'
import { parseMachineId } from './names.ts'

test.each([
  ['983ebda6dd16263972e38480f7b99b07\n', '983ebda6dd16263972e38480f7b99b07'],
  // The machine id of an image before its first boot, and of one that was cleared for cloning.
  ['uninitialized\n', ''],
  ['', ''],
])('a machine id of %j is %j', (text, id) => {
  expect(parseMachineId(text)).toBe(id)
})
