import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A name outside the cluster and its address. */
export const externalName = { name: 'shop.outside.example', address: '192.0.2.7' }

/**
 * Starts a name server that returns the same address for every name. It replaces the name server that hosts
 * would use outside the lab.
 */
export async function startDnsServer(address: string): Promise<AsyncDisposable> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address: from }) => {
    socket.send(buildResponse(query), port, from)
  })
  socket.bind(53, address)
  await once(socket, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** Builds a response: an A record for a query of type A, otherwise an empty response. */
function buildResponse(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5
  const isAddress = query.readUInt16BE(end - 4) === 1
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(0x81_80, 2)
  header.writeUInt16BE(isAddress ? 1 : 0, 6)
  // Clears the counts of the authority and additional sections.
  header.writeUInt32BE(0, 8)
  const record = Buffer.from([
    0xc0,
    12,
    0,
    1,
    0,
    1,
    0,
    0,
    0,
    30,
    0,
    4,
    ...externalName.address.split('.').map(Number),
  ])
  return Buffer.concat([header, query.subarray(12, end), ...(isAddress ? [record] : [])])
}
