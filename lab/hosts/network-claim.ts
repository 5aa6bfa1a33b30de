import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { hasCode, HyperkubeError } from '../../src/kit/errors.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { networksDirectory } from './names.ts'

/**
 * Finds the network number of a lab. A symbolic link named by the number points to the lab's name. Creating a
 * link is atomic, so two labs never get the same number.
 */
export async function findNetwork(lab: string): Promise<number | undefined> {
  const numbers = await readdir(networksDirectory).catch(() => [])
  for (const number of numbers) if ((await findNetworkOwner(Number(number))) === lab) return Number(number)
  return undefined
}

export async function claimNetwork(lab: string): Promise<number> {
  const known = await findNetwork(lab)
  if (known !== undefined) return known
  await mkdir(networksDirectory, { recursive: true })
  for (let network = 0; network < 256; network++) {
    try {
      await symlink(lab, join(networksDirectory, String(network)))
      return network
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
  throw new HyperkubeError('NO_NETWORK_LEFT', 'all 256 lab networks of this machine are taken', {
    hint: `see ${networksDirectory}, then: npm run lab -- --lab NAME down`,
  })
}

/** Returns the name of the lab that owns this network number, if any. */
export async function findNetworkOwner(network: number): Promise<string | undefined> {
  return readlink(join(networksDirectory, String(network))).catch(() => undefined)
}

export async function releaseNetwork(network: number): Promise<void> {
  await rm(join(networksDirectory, String(network)), { force: true })
}

const lockTimeoutMs = 60_000

/**
 * Runs `work` while no other process on this machine changes the lab. The lock ends with the process that
 * holds it.
 */
export async function withLabLock<T>(lab: string, work: () => Promise<T>): Promise<T> {
  const lock = await pollUntil(`lab ${lab} to be free`, async () => takeLock(lab), {
    timeoutMs: lockTimeoutMs,
  }).catch(() => {
    throw new HyperkubeError('LAB_BUSY', `another command is at work on lab ${lab}`, {
      hint: 'wait for it, or use a lab of your own: npm run lab -- --lab NAME ...',
    })
  })
  try {
    return await work()
  } finally {
    lock.close()
  }
}

/** Locks a lab by listening in the kernel's abstract socket namespace, so no lock file is left behind. */
async function takeLock(lab: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(`\0hyperkube-lab-${lab}`, () => resolve(server))
  })
}
