import { expect, test } from 'vitest'
import { runProgram } from './command.ts'

test('runProgram returns exit code, stdout and stderr', async () => {
  const result = await runProgram(['sh', '-c', 'echo out; echo err >&2'])
  expect(result).toEqual({ code: 0, stdout: 'out\n', stderr: 'err\n' })
})

test('runProgram writes the input and closes stdin', async () => {
  expect((await runProgram(['cat'], { input: 'hello' })).stdout).toBe('hello')
})

test('a program that ignores its input is judged by its exit code', async () => {
  expect((await runProgram(['true'], { input: 'x'.repeat(1 << 20) })).code).toBe(0)
})

test('a failure has a code and the last lines of stderr', async () => {
  const failing = runProgram(['sh', '-c', 'echo no such thing >&2; exit 3'])
  await expect(failing).rejects.toMatchObject({
    code: 'COMMAND_FAILED',
    message: expect.stringContaining('ended with 3:\n  no such thing'),
  })
  expect((await runProgram(['sh', '-c', 'exit 3'], { allowFailure: true })).code).toBe(3)
})

test('a missing program is COMMAND_NOT_RUN', async () => {
  await expect(runProgram(['no-such-program-anywhere'])).rejects.toMatchObject({ code: 'COMMAND_NOT_RUN' })
})

test('an aborted program rejects with the reason of the abort', async () => {
  const controller = new AbortController()
  const running = runProgram(['sleep', '60'], { signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
})

test('a program that writes too much is killed', async () => {
  await expect(runProgram(['yes'], { maxOutputBytes: 1 << 20 })).rejects.toMatchObject({
    code: 'COMMAND_FAILED',
    message: 'yes wrote more than 1048576 bytes of output and was stopped',
  })
})
