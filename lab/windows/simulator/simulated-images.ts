import { createHash } from 'node:crypto'
import { parseImage } from '../../../src/contract/image-reference.ts'
import type { Images } from '../../../src/agent/host/images.ts'
import type { Machine } from './machine.ts'
import { isReady } from './programs.ts'

/** The container runtime of a simulated host. Every image can be pulled; archives hold what their names say. */
export function simulatedImages(machine: Machine): Images {
  const running = (): void => {
    if (!isReady(machine, 'containerd')) throw new Error('the runtime does not run')
  }
  return {
    async find(_ctr, names) {
      if (!isReady(machine, 'containerd')) return undefined
      const there = [...machine.images].filter(([name]) => names.includes(name))
      return new Map(there.map(([name, { digest }]) => [name, digest]))
    },
    async pull(_crictl, name) {
      running()
      machine.images.set(name, { digest: digestFor(name), kept: false })
    },
    async load() {
      running()
    },
    async rename(_ctr, name, other) {
      running()
      const image = machine.images.get(name)
      if (image !== undefined) machine.images.set(other, { ...image })
    },
    async keep(_ctr, name) {
      mark(machine, name, true)
    },
    async release(_ctr, name) {
      mark(machine, name, false)
    },
  }
}

function mark({ images }: Machine, name: string, kept: boolean): void {
  const image = images.get(name)
  if (image !== undefined) image.kept = kept
}

function digestFor(name: string): string {
  return parseImage(name)?.digest ?? `sha256:${createHash('sha256').update(name).digest('hex')}`
}
