import { expect, test } from 'vitest'
import { listGoldens, renderGoldens } from './goldens.ts'

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
