import { expect, test } from 'vitest'
import { findResumeCommand, formatTypedCommand, listClusterFlags } from './typed-command.ts'

test.each([
  ['up --yes --progress plain', 'up'],
  ['node remove w1 --dry-run -y', 'node remove w1 --dry-run'],
  ['node add w2 --address 10.0.0.7 --role worker', 'node add w2 --address 10.0.0.7 --role worker'],
  ['addon list -o json', 'addon list'],
  ['up -v --limit w1', 'up --limit w1'],
  ['up --verbose -f shop.yml', 'up -f shop.yml'],
  ['-q up --quiet', 'up'],
  ['node remove w1 -yv', 'node remove w1'],
  ['up --forget-host-key w1 --force-unlock --limit w1', 'up --limit w1'],
  ['up --accept-new-host-keys --limit w1', 'up --limit w1'],
  ['certs renew --dry-run --timeout=5m -f shop.yml', 'certs renew --dry-run -f shop.yml'],
])('%s is repeated as %s', (typed, repeated) => {
  expect(formatTypedCommand(typed.split(' '))).toBe(repeated)
})

test('arguments with special characters are quoted', () => {
  expect(formatTypedCommand(['up', '-f', "my shop's.yml"])).toBe(String.raw`up -f 'my shop'\''s.yml'`)
})

test('the flags that select the cluster are found, also with quotes', () => {
  expect(listClusterFlags(formatTypedCommand(['up', '-f', 'my shop.yml', '-y', '--key=k']))).toEqual([
    "-f 'my shop.yml'",
    '--key=k',
  ])
  expect(listClusterFlags('up --limit w1')).toEqual([])
})

test('commands that write cluster.yml are resumed by up with the same file flags', () => {
  expect(findResumeCommand('node add w2 --address 10.0.0.7 -f shop.yml --key k')).toBe(
    'up -f shop.yml --key k',
  )
  expect(findResumeCommand('upgrade --to 1.37.1')).toBe('up')
  expect(findResumeCommand('reset --limit w1')).toBe('reset --limit w1')
})
