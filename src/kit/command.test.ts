import { expect, test } from 'vitest'
import { run } from './command.ts'

test('gives back what the program said', async () => {
  const result = await run(['sh', '-c', 'echo out; echo err >&2'])
  expect(result).toEqual({ code: 0, stdout: 'out\n', stderr: 'err\n' })
})

test('input is fed and closed', async () => {
  expect((await run(['cat'], { input: 'hello' })).stdout).toBe('hello')
})

test('a program that ignores its input is judged by its exit code', async () => {
  expect((await run(['true'], { input: 'x'.repeat(1 << 20) })).code).toBe(0)
})

test('a failure carries code and last lines', async () => {
  const failing = run(['sh', '-c', 'echo no such thing >&2; exit 3'])
  await expect(failing).rejects.toMatchObject({
    code: 'COMMAND_FAILED',
    message: expect.stringContaining('ended with 3:\n  no such thing'),
  })
  expect((await run(['sh', '-c', 'exit 3'], { allowFailure: true })).code).toBe(3)
})

test('a missing program is told apart from a failing one', async () => {
  await expect(run(['no-such-program-anywhere'])).rejects.toMatchObject({ code: 'COMMAND_NOT_RUN' })
})

test('an aborted program is waited for, and the abort is the reason', async () => {
  const controller = new AbortController()
  const running = run(['sleep', '60'], { signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
})
