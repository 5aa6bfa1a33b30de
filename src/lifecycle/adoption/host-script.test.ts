import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { containerdScript, hostScript } from './host-script.ts'

/** Runs a function of the script. The command line of containerd is given, and containerd prints its arguments. */
function run(name: string, words: readonly string[]): string {
  const script = `command_line() { printf '%s\\n' ${words.join(' ')}; }
containerd() { echo "root = '/from/file'"; echo "[$*]"; }
${containerdScript}
${name}`
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim()
}

test.each([
  [['containerd'], '[config dump]'],
  [['containerd', '--config', '/data/c.toml'], '[--config /data/c.toml config dump]'],
  [['containerd', '--log-level=info', '--config=/data/c.toml'], '[--config /data/c.toml config dump]'],
  [['containerd', '-c', '/data/c.toml'], '[--config /data/c.toml config dump]'],
])('the configuration of the running containerd is read: %j', (words, expected) => {
  expect(run('containerd_settings', words)).toBe(expected)
})

test.each([
  [['containerd'], "root = '/from/file'"],
  [['containerd', '--root', '/data'], "root = '/data'"],
  [['containerd', '--config=/c', '--root=/data'], "root = '/data'"],
])('the data directory of the running containerd is read: %j', (words, expected) => {
  expect(run('containerd_root', words)).toBe(expected)
})

test('the script is valid for a shell and uses these functions', () => {
  expect(hostScript).toContain(containerdScript)
  expect(() => execFileSync('sh', ['-n', '-c', hostScript])).not.toThrow()
})
