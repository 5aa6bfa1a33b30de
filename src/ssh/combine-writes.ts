import type { Socket } from 'node:net'

/**
 * Makes a connected socket send all data of one turn of the event loop with one system call. The ssh library
 * writes each packet in three parts, and a system call for each part takes longer than the encryption.
 */
export function combineWrites(socket: Socket): void {
  const write = socket.write.bind(socket)
  socket.write = (data: Uint8Array | string, ...rest: readonly unknown[]): boolean => {
    if (rest.length > 0) throw new Error('only data can be written to this socket')
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return write(data)
  }
}
