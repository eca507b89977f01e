// SPDX-License-Identifier: GPL-2.0-only
#include "session/owned_session.h"

#include <optional>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

/// The sessions that a module would have.
struct FakeSessions {
    std::set<std::string> names;
    bool broken = false;

    void create(const std::string &name, const SessionOptions &) {
        if (broken)
            throw std::runtime_error("no memory");
        names.insert(name);
    }

    bool remove(const std::string &name) {
        if (broken)
            throw std::runtime_error("no module");
        return names.erase(name) > 0;
    }
};

TEST(OwnedSession, GoesWithItsOwner) {
    FakeSessions sessions;
    {
        OwnedSession owned(sessions, "default", {});
        EXPECT_EQ(sessions.names, std::set<std::string>{"default"});
    }
    EXPECT_TRUE(sessions.names.empty());
}

TEST(OwnedSession, GoesWhenWhatFollowsFails) {
    FakeSessions sessions;
    const auto fail_halfway = [&] {
        OwnedSession owned(sessions, "default", {});
        throw std::logic_error("no such function");
    };
    EXPECT_THROW(fail_halfway(), std::logic_error);
    EXPECT_TRUE(sessions.names.empty());
}

TEST(OwnedSession, StaysIfItIsKept) {
    FakeSessions sessions;
    {
        OwnedSession owned(sessions, "default", {});
        owned.keep();
    }
    EXPECT_EQ(sessions.names, std::set<std::string>{"default"});
}

TEST(OwnedSession, HasOneOwnerWhenItIsHandedOn) {
    FakeSessions sessions;
    std::optional<OwnedSession<FakeSessions>> kept;
    {
        OwnedSession owned(sessions, "default", {});
        kept.emplace(std::move(owned));
    }
    EXPECT_EQ(sessions.names, std::set<std::string>{"default"});
    kept.reset();
    EXPECT_TRUE(sessions.names.empty());
}

TEST(OwnedSession, ThatCouldNotBeMadeRemovesNone) {
    FakeSessions sessions;
    sessions.names = {"default"};
    sessions.broken = true;
    EXPECT_THROW(OwnedSession(sessions, "default", {}), std::runtime_error);
    EXPECT_EQ(sessions.names, std::set<std::string>{"default"});
}

TEST(OwnedSession, HidesNoErrorWithOneOfItsOwn) {
    FakeSessions sessions;
    const auto fail_halfway = [&] {
        OwnedSession owned(sessions, "default", {});
        sessions.broken = true;
        throw std::logic_error("no such function");
    };
    EXPECT_THROW(fail_halfway(), std::logic_error);
}

} // namespace
} // namespace argtrace
