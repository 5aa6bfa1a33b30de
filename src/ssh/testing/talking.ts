import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { signal, type RemoteSubject } from './subject.ts'

export function testRunningPrograms({ remote }: RemoteSubject): void {
  test('an open program receives input and sends output in turn', async () => {
    const text = 'while read -r line; do echo "heard $line"; done; echo bye >&2; exit 5'
    const { stdin, stdout, ended } = await remote().open(['sh', '-c', text], { signal })
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
    for (const word of ['one', 'two', 'three']) {
      stdin.write(`${word}\n`)
      expect(await lines.next()).toEqual({ done: false, value: `heard ${word}` })
    }
    stdin.end()
    expect(await ended).toEqual({ code: 5, stderr: 'bye\n' })
  })

  test('kill ends an open program', async () => {
    const program = await remote().open(['cat'], { signal })
    program.stdout.resume()
    program.kill()
    await expect(program.ended).rejects.toThrow('ended by its caller')
  })

  test('an abort ends an open program', async () => {
    const stop = new AbortController()
    const { stdout, ended } = await remote().open(['cat'], { signal: stop.signal })
    stdout.resume()
    stop.abort(new Error('enough'))
    await expect(ended).rejects.toThrow('enough')
  })
}
