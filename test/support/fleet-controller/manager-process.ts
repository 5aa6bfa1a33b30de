import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import { PlaneManager } from './management-plane.ts'

const startMessage = z.object({ kubeconfig: z.string() })

/** The controller manager of a management plane in a process of its own, so that it can be measured. */
export class PlaneManagerProcess implements AsyncDisposable {
  readonly pid: number
  readonly #child: ChildProcess

  constructor(kubeconfig: string) {
    this.#child = fork(import.meta.filename, ['manager'], { stdio: 'inherit' })
    this.#child.send({ kubeconfig })
    this.pid = this.#child.pid ?? 0
  }

  /** Ends the process. It releases its lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** Entry point of the child process. */
function main(): void {
  process.once('message', (message) => {
    const manager = new PlaneManager(startMessage.parse(message).kubeconfig)
    process.once('disconnect', () => {
      void manager[Symbol.asyncDispose]().then(() => process.exit(0))
    })
  })
}

if (process.argv[2] === 'manager') main()
