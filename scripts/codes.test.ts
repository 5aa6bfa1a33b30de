import { expect, test } from 'vitest'
import { errorCodes } from '../src/error-codes/error-codes.ts'
import { findCodes, findSourceCodes } from './codes.ts'

test('codes are found in every notation', () => {
  const text = `
    throw new HyperkubeError(
      'TIMEOUT', 'it did not end')
    const code = status >= 500 ? 'FETCH_SERVER_ERROR' : "FETCH_REFUSED"
    return read(files, path, 'IDENTITY_NOT_READ')
    stderr.write(\`USAGE: there is no command\`)
    const others = ['CAP_SYS_ADMIN', 'SIGTERM', 'NO_PROXY', { code: 'ENOENT' }]
  `
  expect(findCodes(text).toSorted()).toEqual([
    'FETCH_REFUSED',
    'FETCH_SERVER_ERROR',
    'IDENTITY_NOT_READ',
    'TIMEOUT',
    'USAGE',
  ])
})

const used = findSourceCodes()

test('every code of the program has a catalogue entry', () => {
  const missing = [...used].filter(([code]) => !Object.hasOwn(errorCodes, code))
  const text = missing.map(([code, files]) => `${code} (${files.join(', ')})`)
  expect(text, 'add it to its area in src/error-codes, or to notCodes in scripts/codes.ts').toEqual([])
})

test('every code of the catalogue is used', () => {
  expect(Object.keys(errorCodes).filter((code) => !used.has(code))).toEqual([])
})
