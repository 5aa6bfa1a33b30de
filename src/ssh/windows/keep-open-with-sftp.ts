import type { KeepOpenProgram } from '../system-master.ts'
import { encodePacket, sftpRequests } from './packet.ts'

/**
 * Keeps the shared connection open with the sftp server, which runs as long as its standard input is open. A
 * command would depend on the host's shell.
 */
export const keepOpenWithSftp: KeepOpenProgram = {
  args: (name) => ['-s', name, 'sftp'],
  initialInput: encodePacket(sftpRequests.init, 3),
  // Any version packet shows readiness. Its first five bytes are the length and the type.
  isReady: (output) => output.length >= 5,
}
