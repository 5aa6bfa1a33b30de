import { array, assert, constantFrom, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { formatWindowsCommandLine } from './command-line.ts'

/** Parses a command line by the documented rules of CommandLineToArgvW. */
function parseCommandLine(line: string): string[] {
  const end = line.indexOf('"', 1)
  const args = [line.slice(1, end)]
  let at = end + 1
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t') at++
    if (at >= line.length) return args
    let [argument, inQuotes] = ['', false]
    for (; at < line.length; at++) {
      let slashes = 0
      while (line[at] === '\\') [slashes, at] = [slashes + 1, at + 1]
      if (line[at] === '"') {
        argument += '\\'.repeat(Math.floor(slashes / 2))
        if (slashes % 2 === 1) argument += '"'
        else inQuotes = !inQuotes
        continue
      }
      argument += '\\'.repeat(slashes)
      if (at >= line.length) break
      if (!inQuotes && (line[at] === ' ' || line[at] === '\t')) break
      argument += line[at]
    }
    args.push(argument)
  }
}

const examples = [
  ['a b', 'c:\\ends in\\', '"', '\\"', '', '\\\\', `'; Stop-Computer; '`, '$(whoami)', '%PATH%', '`n'],
  ['a\\\\\\"b', 'tab\there', '\\\\server\\share\\'],
]

test('whatever arguments say, a program gets them as they were', () => {
  const argument = string({
    unit: constantFrom('a', ' ', '"', '\\', "'", '$', '`', '%', ';', '\t', 'é'),
    maxLength: 12,
  })
  assert(
    property(array(argument, { maxLength: 6 }), (args) => {
      const program = String.raw`C:\Program Files\hyper kube\kubelet.exe`
      expect(parseCommandLine(formatWindowsCommandLine(program, args))).toEqual([program, ...args])
    }),
    { examples: examples.map((args) => [args]) },
  )
})

test('what needs no quotes gets none, as people write it', () => {
  expect(formatWindowsCommandLine(String.raw`C:\k\kubelet.exe`, ['--v=2', '--node-ip=10.0.0.1'])).toBe(
    String.raw`"C:\k\kubelet.exe" --v=2 --node-ip=10.0.0.1`,
  )
})

test('a program with a quote in its name is refused', () => {
  expect(() => formatWindowsCommandLine('C:\\a"b.exe', [])).toThrow('quote')
})
