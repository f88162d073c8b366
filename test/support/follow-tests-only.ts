/**
 * Makes node:test follow its tests, and not every promise and every callback as well. It does so to say in which test an error was thrown that
 * nobody caught; for tests of many small asynchronous steps that takes as long as the steps themselves. Without it such an error
 * fails the file, and stands there with its stack.
 */
import hooks from 'node:async_hooks';

const { createHook } = hooks;

// The first hook that is told of ends is that of node:test, which imports this function when it is imported itself.
hooks.createHook = (callbacks) => {
  const { init, destroy } = callbacks;
  if (init === undefined || destroy === undefined) return createHook(callbacks);
  hooks.createHook = createHook;
  return createHook({
    init(id, type, trigger, resource) {
      if (type === 'Test') init(id, type, trigger, resource);
    },
  });
};

process.on('uncaughtExceptionMonitor', (error) => console.error(error));
process.on('unhandledRejection', (reason) => console.error(reason));
