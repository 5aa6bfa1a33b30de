import { expect, test } from 'vitest'
import { listOperatorCommands } from '../src/cli/command-table.ts'
import { escapeText, renderManPages } from './man-pages.ts'

test('every command has a page, with its examples and flags', async () => {
  const pages = await renderManPages()
  const commands = await listOperatorCommands()
  expect(pages.size).toBe(commands.length + 1)
  const page = pages.get('hyperkube-etcd-snapshot-save.1') ?? ''
  expect(page).toContain(String.raw`.TH HYPERKUBE\-ETCD\-SNAPSHOT\-SAVE 1`)
  expect(page).toContain('\n.SH NAME\nhyperkube\\-etcd\\-snapshot\\-save \\- ')
  expect(page).toContain(String.raw`.B \-\-to <place>`)
  expect(page).toContain('before\\-upgrade \\-\\-to /mnt/backup')
  expect(pages.get('hyperkube.1')).toContain('.BR hyperkube\\-etcd\\-snapshot\\-save (1)')
})

test('no line of text starts with a roff request', async () => {
  const requests = /^\.(?:TH|SH|TP|B|I|BR|nh|ad)\b/
  for (const [name, text] of await renderManPages()) {
    const wrong = text.split('\n').filter((line) => /^[.']/.test(line) && !requests.test(line))
    expect({ name, wrong }).toEqual({ name, wrong: [] })
  }
  expect(escapeText(String.raw`.a\b`)).toBe(String.raw`\&.a\eb`)
})
