import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { insertHost, deleteHost } from './hosts-edit.ts'

const text = `# ours
spec:
  kubernetes: 1.37.1   # not before spring
  hosts:
    # in the cellar
    - name: cp1
      address: 10.0.0.1
      roles: [control-plane] # the only one
    # upstairs
    - name: w1
      address: 10.0.0.2
      roles:
        - worker
  # the rest
  network: {}
`

const w2 = { name: 'w2', address: '10.0.0.3', roles: ['worker'] }

test('a new host is inserted after the existing hosts, and no other character changes', () => {
  expect(insertHost(text, w2)).toBe(
    text.replace(
      '        - worker\n',
      '        - worker\n    - name: w2\n      address: 10.0.0.3\n      roles: [worker]\n',
    ),
  )
})

test('deleting an inserted host restores the original text', () => {
  expect(deleteHost(insertHost(text, w2), 'w2')).toBe(text)
})

test('a host is removed with its own lines only', () => {
  expect(deleteHost(text, 'cp1')).toBe(
    text.replace(
      '    - name: cp1\n      address: 10.0.0.1\n      roles: [control-plane] # the only one\n',
      '',
    ),
  )
  expect(deleteHost(text, 'unknown')).toBe(text)
})

test('a file without a last newline, or with hosts in flow style, can be edited', () => {
  const short = 'spec:\n  hosts:\n  - { name: a, address: 10.0.0.1, roles: [worker] }'
  expect(insertHost(short, w2)).toBe(`${short}\n  - name: w2\n    address: 10.0.0.3\n    roles: [worker]\n`)
  const line = 'spec: { hosts: [{ name: a, address: 10.0.0.1, roles: [worker] }] }\n'
  expect(parse(deleteHost(insertHost(line, w2), 'w2'))).toEqual(parse(line))
})
