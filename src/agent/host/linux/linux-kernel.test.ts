import { expect, test } from 'vitest'
import { parseMountPoints } from './linux-kernel.ts'

test('mount points are listed from the last to the first, with escaped characters decoded', () => {
  const text = [
    '22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
    '90 22 0:40 / /var/lib/kubelet/pods/a\\040b rw - tmpfs tmpfs rw',
    '',
  ].join('\n')
  expect(parseMountPoints(text)).toEqual(['/var/lib/kubelet/pods/a b', '/'])
})
