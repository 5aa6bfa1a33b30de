import { expect, test } from 'vitest'
import { temporaryHost } from '../host/testing/temporary-host.ts'
import { hasSetting, keepSetting, readSettings, settingsText } from './settings-file.ts'

test('settings come back as they were written, in order', () => {
  const settings = new Map([
    ['vm.swappiness', '1'],
    ['net.ipv4.tcp_rmem', '4096 131072 6291456'],
  ])
  const text = settingsText(settings)
  expect(text).toBe(`# Written by hyperkube, which writes it again.
net.ipv4.tcp_rmem = 4096 131072 6291456
vm.swappiness = 1
`)
  expect(new Map(readSettings(text))).toEqual(settings)
})

test('names alone are settings too', () => {
  expect(settingsText(new Map([['overlay', '']]))).toContain('\noverlay\n')
  expect(new Map(readSettings('# modules\n\noverlay\n'))).toEqual(new Map([['overlay', '']]))
})

test('each is put in and taken out by itself; the file goes with the last', async () => {
  await using host = await temporaryHost()
  const file = host.layout.sysctls
  await keepSetting(host, file, 'a', '1')
  await keepSetting(host, file, 'b', '2')
  await keepSetting(host, file, 'a', '3')
  expect(await hasSetting(host, file, 'a', '3')).toBe(true)
  expect(await hasSetting(host, file, 'b', '3')).toBe(false)
  await keepSetting(host, file, 'a', undefined)
  expect(await hasSetting(host, file, 'b', '2')).toBe(true)
  await keepSetting(host, file, 'b', undefined)
  expect(await host.files.stat(file)).toBeUndefined()
  await keepSetting(host, file, 'b', undefined)
})
