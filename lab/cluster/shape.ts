import { HyperkubeError } from '../../src/kit/errors.ts'
import type { Host } from '../hosts/host.ts'

/** Number of hosts per role. As text, `3+2` means three control planes and two workers. */
export interface Shape {
  readonly controlPlanes: number
  readonly workers: number
}

export function parseShape(text: string): Shape {
  const [, controlPlanes, workers] = /^([1357])\+(\d{1,2})$/.exec(text) ?? []
  if (controlPlanes === undefined || workers === undefined) {
    throw new HyperkubeError('SHAPE', `"${text}" is not a shape of a cluster`, {
      hint: 'control planes (1, 3, 5 or 7), a plus, workers: 1+1, 3+2',
    })
  }
  return { controlPlanes: Number(controlPlanes), workers: Number(workers) }
}

export function listHostNames({ controlPlanes, workers }: Shape): string[] {
  return [...listNumberedNames('cp', controlPlanes), ...listNumberedNames('w', workers)]
}

function listNumberedNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
}

export interface ClusterHosts {
  readonly controlPlanes: readonly Host[]
  readonly workers: readonly Host[]
}

export function assignRoles(shape: Shape, hosts: readonly Host[]): ClusterHosts {
  return {
    controlPlanes: hosts.slice(0, shape.controlPlanes),
    workers: hosts.slice(shape.controlPlanes),
  }
}
