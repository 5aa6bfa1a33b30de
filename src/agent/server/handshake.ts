import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/**
 * Mutual authentication of the agent and its clients on a Windows host. Any local user can create the named
 * pipe of the agent while the agent does not run. Node.js can read neither the owner of a pipe nor the
 * process that serves it. So each side proves that it knows a key that only SYSTEM and administrators can
 * read. The key itself is never sent, and both sides contribute a random value. The client sends nothing else
 * before it has verified the agent. A foreign process therefore learns nothing and cannot replay a proof. It
 * cannot relay a proof either, because only administrators can connect to the pipe of the agent.
 */

/** A connection on which both sides write lines of text. */
export interface LineConnection {
  readonly lines: AsyncIterator<string, unknown>
  readonly write: (line: string) => unknown
}

const nonce = z.string().regex(/^[0-9a-f]{64}$/)
const proof = nonce
const challengeSchema = z.strictObject({ nonce })
const agentProofSchema = z.strictObject({ nonce, proof })
const clientProofSchema = z.strictObject({ proof })

/** Proves to the agent that this process knows the key. Returns false if the other side is not the agent. */
export async function authenticateAgent(connection: LineConnection, key: Buffer): Promise<boolean> {
  const clientNonce = createNonce()
  writeDocument(connection, { nonce: clientNonce })
  const response = await readDocument(connection, agentProofSchema)
  if (response === undefined) return false
  const nonces = { clientNonce, agentNonce: response.nonce }
  if (!isSame(response.proof, computeProof(key, 'agent', nonces))) return false
  writeDocument(connection, { proof: computeProof(key, 'client', nonces) })
  return true
}

/** Proves to a client that this process is the agent. Returns false if the client does not know the key. */
export async function authenticateClient(connection: LineConnection, key: Buffer): Promise<boolean> {
  const challenge = await readDocument(connection, challengeSchema)
  if (challenge === undefined) return false
  const nonces = { clientNonce: challenge.nonce, agentNonce: createNonce() }
  writeDocument(connection, { nonce: nonces.agentNonce, proof: computeProof(key, 'agent', nonces) })
  const response = await readDocument(connection, clientProofSchema)
  return response !== undefined && isSame(response.proof, computeProof(key, 'client', nonces))
}

interface Nonces {
  readonly clientNonce: string
  readonly agentNonce: string
}

/** The role is part of the proof, so a proof of the agent cannot be used as that of a client. */
function computeProof(key: Buffer, role: 'agent' | 'client', { clientNonce, agentNonce }: Nonces): string {
  const text = `hyperkube-agent-pipe/1 ${role} ${clientNonce} ${agentNonce}`
  return createHmac('sha256', key).update(text).digest('hex')
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

function createNonce(): string {
  return randomBytes(32).toString('hex')
}

function writeDocument({ write }: LineConnection, document: object): void {
  write(`${JSON.stringify(document)}\n`)
}

/** Reads one document. Returns undefined if the connection ends or the line is invalid. */
async function readDocument<T>({ lines }: LineConnection, schema: z.ZodType<T>): Promise<T | undefined> {
  const next = await lines.next()
  if (next.done === true) return undefined
  try {
    return schema.parse(JSON.parse(next.value))
  } catch {
    return undefined
  }
}
