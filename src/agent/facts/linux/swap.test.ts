import { expect, test } from 'vitest'
import { hasSwap } from './swap.ts'

const heading = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n'

test.each([
  ['none', heading, false],
  ['a kernel that cannot', '', false],
  [
    'a file, as on Ubuntu',
    `${heading}/swap.img                               file\t\t4194300\t\t0\t\t-2\n`,
    true,
  ],
  [
    'in memory, as on Fedora',
    `${heading}/dev/zram0                              partition\t8388604\t\t0\t\t100\n`,
    true,
  ],
])('%s', (_, text, expected) => {
  expect(hasSwap(text)).toBe(expected)
})
