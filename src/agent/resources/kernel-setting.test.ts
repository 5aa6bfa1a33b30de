import { expect, test } from 'vitest'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { formatSettingsFile, hasSetting, parseSettingsFile, persistSetting } from './kernel-setting.ts'

test('settings are written in sorted order and parsed unchanged', () => {
  const settings = new Map([
    ['vm.swappiness', '1'],
    ['net.ipv4.tcp_rmem', '4096 131072 6291456'],
  ])
  const text = formatSettingsFile(settings)
  expect(text).toBe(`# Written by hyperkube, which writes it again.
net.ipv4.tcp_rmem = 4096 131072 6291456
vm.swappiness = 1
`)
  expect(new Map(parseSettingsFile(text))).toEqual(settings)
})

test('settings without a value are written and parsed', () => {
  expect(formatSettingsFile(new Map([['overlay', '']]))).toContain('\noverlay\n')
  expect(new Map(parseSettingsFile('# modules\n\noverlay\n'))).toEqual(new Map([['overlay', '']]))
})

test('settings are added and removed one by one, and the last removal deletes the file', async () => {
  await using host = await createTemporaryHost()
  const file = host.layout.sysctls
  await persistSetting(host, file, 'a', '1')
  await persistSetting(host, file, 'b', '2')
  await persistSetting(host, file, 'a', '3')
  expect(await hasSetting(host, file, 'a', '3')).toBe(true)
  expect(await hasSetting(host, file, 'b', '3')).toBe(false)
  await persistSetting(host, file, 'a', undefined)
  expect(await hasSetting(host, file, 'b', '2')).toBe(true)
  await persistSetting(host, file, 'b', undefined)
  expect(await host.files.stat(file)).toBeUndefined()
  await persistSetting(host, file, 'b', undefined)
})
