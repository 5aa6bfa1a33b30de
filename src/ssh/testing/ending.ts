import { expect, test } from 'vitest'
import { pollUntil } from '../../kit/poll.ts'
import { signal, type RemoteSubject } from './subject.ts'

export function testEnding({ remote, directory, endsPrograms, killed }: RemoteSubject): void {
  const appears = async (file: string): Promise<string> => {
    const readPid = async (): Promise<string> =>
      (await remote().exec(['cat', file], { signal })).stdout.trim()
    const pid = await pollUntil('the program to start', async () => (await readPid()) || undefined, {
      timeoutMs: 10_000,
    })
    await remote().exec(['rm', file], { signal })
    return pid
  }
  const isGone = async (pid: string): Promise<unknown> =>
    pollUntil(
      'the program to end',
      async () => (await remote().exec(['kill', '-0', pid], { signal })).code !== 0,
      { timeoutMs: 10_000 },
    )

  test('an abort ends the wait and the program', async () => {
    const stop = new AbortController()
    const file = `${directory()}/pid`
    const text = 'echo $$ > "$1.new"; mv "$1.new" "$1"; sleep 300; exit 0'
    const running = remote().exec(['sh', '-c', text, 'sh', file], { signal: stop.signal })
    const pid = await appears(file)
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(running).rejects.toBe(reason)
    if (!endsPrograms) await remote().exec(['kill', pid], { signal })
    await isGone(pid)
  })

  test('an aborted signal prevents the program from starting', async () => {
    const file = `${directory()}/begun`
    const aborted = AbortSignal.abort(new Error('before'))
    await expect(remote().exec(['touch', file], { signal: aborted })).rejects.toThrow('before')
    expect((await remote().exec(['ls', file], { signal })).code).not.toBe(0)
  })

  test('a timeout ends the wait', async () => {
    const running = remote().exec(['sleep', '60'], { signal, timeout: 300 })
    await expect(running).rejects.toMatchObject({
      code: 'TIMED_OUT',
      host: remote().host,
      message: 'sleep 60 did not end within 300 ms',
    })
  })

  test('an abort ends a program that reads or writes', async () => {
    const file = `${directory()}/pid`
    for (const text of ['exec cat', 'while echo x; do sleep 0.1; done']) {
      const stop = new AbortController()
      const script = `echo $$ > "$1.new"; mv "$1.new" "$1"; ${text}`
      const { stdout, ended } = await remote().open(['sh', '-c', script, 'sh', file], { signal: stop.signal })
      stdout.resume()
      const pid = await appears(file)
      stop.abort(new Error('enough'))
      await expect(ended).rejects.toThrow('enough')
      await isGone(pid)
    }
  })

  test('a program killed by a signal has the exit code of a shell', async () => {
    const { code } = await remote().exec(['sh', '-c', 'kill -9 $$'], { signal })
    expect(code).toBe(killed)
  })
}
