import { createHash } from 'node:crypto'
import type { Images } from '../../../src/agent/host/host.ts'
import { parseImage } from '../../../src/contract/image-reference.ts'
import type { Machine } from './machine.ts'
import { isProgramReady } from './programs.ts'

/**
 * Simulates the images of the container runtime. Every image can be pulled. Loading an archive adds no
 * images.
 */
export function simulatedImages(machine: Machine): Images {
  const requireRuntime = (): void => {
    if (!isProgramReady(machine, 'containerd')) throw new Error('the runtime does not run')
  }
  return {
    async find(_ctr, names) {
      if (!isProgramReady(machine, 'containerd')) return undefined
      const there = [...machine.images].filter(([name]) => names.includes(name))
      return new Map(there.map(([name, { digest }]) => [name, digest]))
    },
    async pull(_crictl, name) {
      requireRuntime()
      machine.images.set(name, { digest: toDigest(name), kept: false })
    },
    async load() {
      requireRuntime()
    },
    async rename(_ctr, name, other) {
      requireRuntime()
      const image = machine.images.get(name)
      if (image !== undefined) machine.images.set(other, { ...image })
    },
    async pin(_ctr, name) {
      setKept(machine, name, true)
    },
    async unpin(_ctr, name) {
      setKept(machine, name, false)
    },
  }
}

function setKept({ images }: Machine, name: string, kept: boolean): void {
  const image = images.get(name)
  if (image !== undefined) image.kept = kept
}

function toDigest(name: string): string {
  return parseImage(name)?.digest ?? `sha256:${createHash('sha256').update(name).digest('hex')}`
}
