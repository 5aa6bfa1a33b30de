import { expect, test } from 'vitest'
import { formatWineEvidence } from './wine-evidence.ts'

const evidence = {
  date: new Date('2026-01-02T03:04:05Z'),
  wine: 'wine-8.0',
  node: '22.0.0',
  hyperkube: 'hyperkube 1.2.3',
  shown: [
    { what: 'it begins', passed: true },
    { what: 'it ends', passed: false },
  ],
  unanswered: ['adapters.list', 'system.describe'],
  standIn: 'x.dll',
  programs: [],
  flags: [],
  kubelet: '',
}

test('the evidence lists passed and failed tests, and operations that were not checked', () => {
  const text = formatWineEvidence(evidence)
  expect(text).toContain('on 2026-01-02: hyperkube 1.2.3, in Node 22.0.0 for Windows, on wine-8.0.')
  expect(text).toContain('| it begins | yes |\n| it ends | no |')
  expect(text).toContain('adapters.list, system.describe.')
  expect(text).toContain('They were not checked in this run.')
})

test('the evidence lists for each program whether it starts and which libraries it loads', () => {
  const program = {
    part: 'p@v1',
    name: 'p',
    path: '',
    imports: ['kernel32.dll'],
    runtimeLibraries: ['ws2_32.dll'],
    foreign: [],
    unknown: ['x.dll'],
  }
  const text = formatWineEvidence({
    ...evidence,
    programs: [
      { ...program, version: 'p 1 | x' },
      { ...program, failure: 'fatal error', foreign: ['evil.dll'] },
    ],
    kubelet: 'no sockets',
    flags: [{ program: 'p', method: 'query', flags: ['a', 'b'], missing: ['b'] }],
  })
  expect(text).toContain('and then ended: `no sockets`.')
  expect(text).toContain('| p | a, b | checked with the program | b |')
  expect(text).toContain(String.raw`| p@v1 | p | yes: p 1 \| x | kernel32.dll | ws2_32.dll, x.dll? | none |`)
  expect(text).toContain('| p@v1 | p | no: fatal error | kernel32.dll | ws2_32.dll, x.dll? | evil.dll |')
})
