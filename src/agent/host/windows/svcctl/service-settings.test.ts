import { array, assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { formatMultiString, formatRegFile, parseServiceSettings, readRegFile } from './service-settings.ts'

const key = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\one`

/** Export by Wine's reg.exe, but with the type that Windows uses for ImagePath. */
const exported = `\uFEFFWindows Registry Editor Version 5.00\r
\r
[HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services\\one]\r
"DependOnService"=hex(7):45,00,76,00,65,00,6e,00,74,00,4c,00,6f,00,67,00,00,00,\\\r
  50,00,6c,00,75,00,67,00,50,00,6c,00,61,00,79,00,00,00,00,00\r
"Description"="of \\"no\\" use: C:\\\\x\r
[in] two lines"\r
"ErrorControl"=dword:00000001\r
"FailureActions"=hex:84,03,00,00\r
"ImagePath"=hex(2):22,00,43,00,3a,00,5c,00,61,00,20,00,62,00,22,00,00,00\r
"Start"=dword:00000002\r
\r
[HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services\\one\\Parameters]\r
"Description"="of another key"\r
\r
`

test('service settings are parsed from an export of reg.exe', () => {
  expect(parseServiceSettings(exported, key)).toEqual({
    commandLine: '"C:\\a b"',
    description: 'of "no" use: C:\\x\r\n[in] two lines',
    dependsOn: ['EventLog', 'PlugPlay'],
    environment: [],
    startType: 2,
  })
  expect(() => parseServiceSettings(exported, `${key}-other`)).toThrow('the registry has no')
  expect(() => readRegFile('ERROR: no')).toThrow('not a registry export')
})

test('environment variables are parsed as they were written', () => {
  const value = string({ minLength: 1 }).filter((text) => !text.includes('\0'))
  assert(
    property(array(value), (environment) => {
      const text = formatRegFile(key, { Environment: formatMultiString(environment) })
      expect(text).toMatch(/^\uFEFF[\x20-\x7e\r\n]*$/)
      expect(parseServiceSettings(text, key).environment).toEqual(environment)
    }),
  )
})
