import { expect, test } from 'vitest'
import { listGoldens, renderGoldens, requireUnreleased } from './goldens.ts'

test('the list contains files of every kind of format', () => {
  const paths = listGoldens()
  for (const path of [
    'src/catalog/testdata/v1-held-upgrade.lock',
    'src/contract/testdata/ledger.v1.json',
    'src/identity/testdata/v1.key',
    'src/spec/testdata/fleet.v1.yml',
  ])
    expect(paths).toContain(path)
  expect(paths).not.toContain('src/cli/testdata/help.txt')
})

test('sha256sum can check the list', async () => {
  const list = await renderGoldens(['src/identity/testdata/v1.key'])
  expect(list).toMatch(/^[0-9a-f]{64} {2}src\/identity\/testdata\/v1\.key\n$/)
})

test('the list of a released version cannot be written again', () => {
  const released = [{ version: '0.1.0', commit: 'a'.repeat(40) }]
  expect(() => requireUnreleased('0.1.0', released)).toThrow('hyperkube 0.1.0 is released')
  requireUnreleased('0.2.0', released)
})
