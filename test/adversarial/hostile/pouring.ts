import type { Socket } from 'node:net'
import type { Answer } from '../../support/receiver.ts'

/** Says the beginning, then the same piece over and over, as fast as it is read. */
export function pouring(beginning: string, piece: string): Answer {
  const bytes = piece.repeat(Math.ceil(65_536 / piece.length))
  return (socket) => {
    const go = (): void => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.on('drain', go)
    socket.write(beginning)
    go()
  }
}

/** Says the beginning, then one byte of the piece at a time, over and over. */
export function trickling(beginning: string, piece: string): Answer {
  return (socket) => {
    socket.write(beginning)
    dribble(socket, piece)
  }
}

export function dribble(socket: Socket, piece: string): void {
  let at = 0
  const timer = setInterval(() => {
    socket.write(piece.charAt(at % piece.length), 'latin1')
    at += 1
  }, 10)
  socket.once('close', () => clearInterval(timer))
}

/** After a few turns of the event loop, in which what was written arrives and is read. */
export function soon(run: () => void, turns = 10): void {
  setImmediate(() => {
    if (turns === 0) run()
    else soon(run, turns - 1)
  })
}
