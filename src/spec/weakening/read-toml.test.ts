import { expect, test } from 'vitest'
import { readToml } from './read-toml.ts'

test('tables, keys and values of TOML are read', () => {
  const text = `
version = 3 # the format
imports = [
  "a.toml", # first
  'b.toml',
]
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["/opt/cni/bin"]
  max = 1_000
  on = false
[plugins."io.containerd.cri.v1.runtime"]
  options = { a.b = "x\\ty", c = ['d'] }
[[stream]]
  text = """
many # no comment
lines"""
  path = 'C:\\new'
  since = 2026-11-17
`
  expect(readToml(text)).toEqual({
    version: 3,
    imports: ['a.toml', 'b.toml'],
    plugins: {
      'io.containerd.cri.v1.runtime': {
        cni: { bin_dirs: ['/opt/cni/bin'], max: 1000, on: false },
        options: { a: { b: 'x\ty' }, c: ['d'] },
      },
    },
    stream: [{ text: 'many # no comment\nlines', path: String.raw`C:\new`, since: '2026-11-17' }],
  })
})

test.each([
  '[a',
  'a',
  'a =',
  'a = [1',
  'a = { b = 1',
  '= 1',
  'a = "x',
  'a = ]',
  'a = 1\na = 2',
  `a = ${'['.repeat(100_000)}`,
])('$0 is refused as invalid TOML', (text) => {
  expect(readToml(text)).toBeUndefined()
})

test('a key cannot reach the prototype of objects', () => {
  readToml('[__proto__]\npolluted = true\n[constructor.prototype]\npolluted = true')
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('a long text is read in linear time', () => {
  const text = `a = [${'"x",'.repeat(100_000)}]\n${'# comment\n'.repeat(10_000)}`
  const start = performance.now()
  expect(readToml(text)).toBeDefined()
  expect(performance.now() - start).toBeLessThan(2000)
})
