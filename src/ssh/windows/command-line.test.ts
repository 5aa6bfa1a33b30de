import { array, assert, constantFrom, property, string, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'
import { toSftpPath, buildWindowsCommandLine } from './command-line.ts'

/** Characters that are special in cmd.exe: operators, variables, escapes, quotes and separators. */
const cmdSpecial = /[&|<>^()%!"',;=@\s*?`]/
/** Characters that are special in PowerShell anywhere in a word. */
const powershellSpecial = /[$`"'(){}[\],;&|<>@#%\s*?~]/

/** Splits a command line like cmd.exe. Returns undefined if cmd.exe could interpret the line differently. */
function cmdWords(line: string): string[] | undefined {
  const words = line.split(' ')
  // A slash would start an option, even within the program name.
  return words.some((word) => word === '' || cmdSpecial.test(word) || word.includes('/')) ? undefined : words
}

/**
 * Splits a command line like PowerShell. Returns undefined if PowerShell could interpret the line
 * differently.
 */
function powershellWords(line: string): string[] | undefined {
  const [program = '', ...words] = line.split(' ')
  const isPath = /^([A-Za-z]:\\|\.\\)/.test(program)
  // PowerShell may treat a word with a leading dash as a parameter, and splits such words at dots and colons.
  const plain = words.every((word) => word !== '' && !word.startsWith('-') && !/[.:]/.test(word))
  return isPath && plain && !powershellSpecial.test([program, ...words].join(''))
    ? [program, ...words]
    : undefined
}

/** Splits a command line without quotes like Windows programs (CommandLineToArgvW). */
function programWords(line: string): string[] {
  return line.split(/[ \t]+/)
}

const name = stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,10}[A-Za-z0-9_]$/)
const path = array(name, { minLength: 1, maxLength: 4 }).map((names) => `C:\\${names.join('\\')}`)
const word = stringMatching(/^[a-z0-9][a-z0-9-]{0,15}$/)

test('an accepted command line has the same words for cmd.exe, PowerShell and the program', () => {
  assert(
    property(path, array(word, { maxLength: 4 }), (program, words) => {
      const line = buildWindowsCommandLine([program, ...words])
      expect([cmdWords(line), powershellWords(line), programWords(line)]).toEqual(
        Array.from({ length: 3 }, () => [program, ...words]),
      )
    }),
  )
})

const anything = string({ unit: 'binary', maxLength: 12 })

test('any other command line is refused, or has the same words for cmd.exe and PowerShell', () => {
  const awkward = constantFrom(
    '',
    '%PATH%',
    'a b',
    '"',
    '&',
    '-x',
    '--%',
    '$x',
    'a;b',
    '^',
    '`',
    'a,b',
    'a=b',
    '~',
  )
  const some = (words: readonly string[]): void => {
    const [program = '', ...rest] = words
    let line
    try {
      line = buildWindowsCommandLine([program, ...rest])
    } catch {
      return
    }
    expect([cmdWords(line), powershellWords(line)]).toEqual([words, words])
  }
  assert(property(path, array(awkward, { maxLength: 3 }), (program, words) => some([program, ...words])))
  assert(property(array(anything, { minLength: 1, maxLength: 3 }), some), { numRuns: 1000 })
})

test.each([
  'C:\\Program Files\\x.exe',
  'C:/hyperkube/x.exe',
  'hyperkube.exe',
  'C:\\x\\',
  'C:\\x.',
  '\\\\host\\x',
])('%s is refused as a program', (program) =>
  expect(() => buildWindowsCommandLine([program])).toThrow('cannot be run over ssh'),
)

test('a Windows path is converted to an sftp path', () => {
  expect([toSftpPath('C:\\hyperkube\\state'), toSftpPath('d:')]).toEqual(['/C:/hyperkube/state', '/d:'])
  expect(() => toSftpPath('\\hyperkube')).toThrow('does not begin with a drive')
})
